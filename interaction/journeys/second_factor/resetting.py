"""The second factor of a user who replaces a forgotten password. Its proof never starts a session."""

from django.db import transaction
from django.utils import timezone

from audit import log
from audit.events import Event
from database.chains import Chain
from identity.core.errors import ServiceError
from identity.factors.levels import Level
from identity.factors.needed import FirstFactor
from identity.sessions import proof_secrets
from identity.users import credentials
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.pending import page_url
from interaction.journeys.second_factor import starting
from interaction.journeys.second_factor.sign_ins import Continued, SignIn, SupportsSucceed, Visit
from interaction.pending_sign_ins import services as pending_sign_ins
from interaction.pending_sign_ins.models import PendingSignIn
from interaction.verification import services as verification
from interaction.verification.models import VerificationCode


class SecondFactorMissing(ServiceError):
    """The user has a second factor, and has not proven it in this browser."""

    status = 401
    reason = "second_factor_missing"
    message = "prove your second factor, and then send the new password again"


def check(user: User, proof: VerificationCode, visit: Visit, experience: SignInExperience) -> None:
    """Check that a user who has just proven an address has proven a second factor, too, if there is one.

    If it is not proven, store a pending step of this browser that asks for it: see ``verifying``. It needs
    the same secret as the proof of the address. Codes to the email or phone are no such factor.

    Raises:
        SecondFactorMissing: the user has a second factor that was not proven.
        verification.NotVerified: the password was changed meanwhile, which ends the proof of the address.

    """
    if not experience.forgot_password_requires_factor:
        return
    entered = frozenset({Kind(proof.kind)})
    sign_in = SignIn(way=FirstFactor.FORGOT_PASSWORD, amr=["otp"], entered=entered)
    need = starting.find_need(user, sign_in, experience, pending=None)
    if need.is_nothing or pending_sign_ins.is_reset_allowed(user, visit.browser, visit.proofs):
        return
    with transaction.atomic():
        try:
            credentials.lock_for_sign_in(user)
        except credentials.InvalidCredentials:
            raise verification.NotVerified("identifier") from None
        pending_sign_ins.store(
            user,
            browser=visit.browser,
            secret_hash=proof.secret_hash,
            proofs=visit.proofs,
            request_id=visit.pending.row.pk if visit.pending else None,
            way=sign_in.way,
            amr=sign_in.amr,
            level=Level.ONE,
            auth_time=timezone.now(),
            channels=sorted(sign_in.entered),
            reasons=list(need.reasons),
            must_enrol=False,
            keep_signed_in=False,
        )
    raise SecondFactorMissing


def allow(pending: PendingSignIn, visit: Visit, proven: str, to_succeed: SupportsSucceed | None) -> Continued:
    """Let the browser set the new password, after its user proved a second factor.

    Raises:
        pending_sign_ins.NothingPending: another request was first, or it has ended.

    """
    chain, secret = Chain(), proof_secrets.new()
    pending_sign_ins.allow_reset(pending, secret, chain)
    if to_succeed:
        to_succeed.succeed(chain)
    facts = {"type": proven, "result": "success", "way": FirstFactor.FORGOT_PASSWORD}
    log.record(Event.MFA_VERIFY, chain, user_id=pending.user_id, **facts)
    chain.run()
    return Continued(page_url("pages:forgot-password", visit.pending), secret)
