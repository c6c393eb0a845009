"""Setting a new password with a proven email or phone."""

from django.db import transaction

from audit import log
from audit.events import Event
from identity.limits import rules
from identity.limits import services as limits
from identity.users import credentials, identifiers, ownership, passwords, typed_identifiers
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import policy
from interaction.experience import services as experiences
from interaction.journeys.second_factor import resetting
from interaction.journeys.second_factor.sign_ins import Visit
from interaction.verification import proofs as code_proofs
from interaction.verification import services as verification
from interaction.verification.models import Purpose, VerificationCode


def set_new_password(*, identifier: str, new_password: str, visit: Visit) -> None:
    """Set the password of the user whose email or phone was proven in this browser.

    A user who has a second factor proves it first: see ``second_factor.resetting``. The new password spends
    the proof (``codes``, purpose ``forgot_password``) and ends all sessions and refresh tokens of the user.
    Nobody is signed in, and a suspended user stays suspended.

    Raises:
        verification.NotVerified: the identifier was not proven in this browser within 10 minutes, or the
            password was changed since the code was sent.
        resetting.SecondFactorMissing: the user has a second factor that was not proven; the proof of the
            address stays valid.
        policy.PasswordRefused: the password breaks the tenant's policy; the proof stays valid.
        limits.TooMany: too many from this network.
        passwords.Busy: too many sign-ins.

    """
    passwords.check_capacity()  # first, so that a flood costs no statement and no log entry
    limits.hit_by_network(rules.SIGN_INS)
    with log.attempt(Event.FORGOT_PASSWORD, typed_identifiers.build(identifier)) as audited:
        kind = identifiers.detect_kind(identifier)
        proof = None
        if kind is not Kind.USERNAME:
            proof = code_proofs.find(
                purpose=Purpose.FORGOT_PASSWORD,
                kind=kind,
                identifier=identifier,
                browser=visit.browser,
                proofs=visit.proofs,
            )
        user = find_owner(proof) if proof else None
        if proof is None or user is None:
            raise verification.NotVerified("identifier")
        audited.set_identifier_known(is_known=True)
        experience = experiences.current()
        own = (user.username, user.email, user.phone)
        policy.check(new_password, experience.password_policy, field="new_password", own=own)
        resetting.check(user, proof, visit, experience)
        encoded = passwords.hash_password(new_password)
        try:
            with transaction.atomic():
                verification.spend(proof)
                credentials.reset_password(user, encoded, kind=kind, key=proof.identifier_key)
                audited.user_id = user.pk
                audited.record_success()
        except ownership.NotTheOwner:
            raise verification.NotVerified("identifier") from None


def ask_for_missing_factor(proof: VerificationCode, visit: Visit) -> bool:
    """Return whether the user of a proof has to prove a second factor. If so, store the pending step.

    Raises:
        verification.NotVerified: the password was changed meanwhile, which ends the proof of the address.

    """
    user = find_owner(proof)
    try:
        if user is not None:
            resetting.check(user, proof, visit, experiences.current())
    except resetting.SecondFactorMissing:
        return True
    return False


def find_owner(proof: VerificationCode) -> User | None:
    """Return the user whose password a proof allows to replace, or None if it no longer does."""
    user = ownership.find_by_proof(Kind(proof.kind), proof.identifier_key, address=proof.address)
    return None if user is None or proof.is_outdated(user) else user
