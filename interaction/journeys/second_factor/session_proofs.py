"""Proving the second factor or the password again in a session, before a sensitive change of the account.

``verifying`` proves the factor that a sign-in or an authorization request needs.
"""

from dataclasses import dataclass
from uuid import UUID

from database.chains import Chain
from identity.factors import locks
from identity.factors.errors import FactorNotAllowed, WrongFactor
from identity.factors.kinds import FactorType, add_methods
from identity.factors.levels import Level
from identity.sessions import lifetimes, renewal
from identity.sessions.known_users import KnownUsers
from identity.sessions.models import Session
from identity.tenants.models import Tenant
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import checking, reauthentication
from interaction.journeys.second_factor.sign_ins import CombinedSuccess, SupportsSucceed


@dataclass(frozen=True, slots=True)
class Renewed:
    """A session that continues with a new secret, and how long its cookie lives.

    ``factor_id`` is the factor that was set up, if one was.
    """

    session: Session
    token: str
    cookie_seconds: int | None
    factor_id: UUID | None = None


def send_code(session: Session, known: KnownUsers, *, factor: FactorType) -> int:
    """Send a code to the verified address of the account, and return how many seconds it is valid.

    ``known`` are the users whom the browser signed in before.

    Raises:
        FactorNotAllowed: the user does not have the factor.
        verification.SentTooOften: a code was sent within the pause.
        limits.TooMany: too many from this network.

    """
    _check_usable(session, factor, experiences.current())
    return checking.send(session.user, factor, binding=str(session.pk), known=known)


def confirm(session: Session, *, factor: FactorType, code: str) -> Renewed:
    """Prove the second factor in a session, which reaches its level.

    Raises:
        FactorNotAllowed: the user does not have the factor.
        WrongFactor: the code is wrong or was used before, or there were too many wrong ones.
        reauthentication.SignInAgain: the session has ended.
        limits.TooMany: too many from this network.

    """
    experience = experiences.current()
    _check_usable(session, factor, experience)
    try:
        with locks.code_attempt(session.user_id) as counted:
            checked = checking.check(session.user, factor, code, binding=str(session.pk))
            both = CombinedSuccess((checked, counted))
            return step_up(session, factor, tenant=experience.tenant, to_succeed=both)
    except WrongFactor as error:
        checking.record_failure(session.user, factor, error)
        raise


def step_up(
    session: Session,
    factor: FactorType,
    level: int = Level.TWO,
    *,
    tenant: Tenant,
    to_succeed: SupportsSucceed | None = None,
) -> Renewed:
    """Store that a factor was just proven in a session, with the success of ``to_succeed``.

    ``tenant`` is that of the session.

    Raises:
        reauthentication.SignInAgain: the session has ended.
        WrongFactor: the code was used before, or another error of ``to_succeed``.

    """
    amr = add_methods(session.amr, factor)
    chain = Chain()
    reached = max(level, session.level)
    if to_succeed:
        to_succeed.succeed(chain)  # lock order: before the session, as in a sign-in, against deadlocks
    token = renewal.step_up(
        session, amr=amr, level=reached, chain=chain, refusal=reauthentication.SignInAgain
    )
    chain.run()
    return _renew(session, token, tenant)


def confirm_password(session: Session, password: str) -> Renewed:
    """Check the password of a signed-in user, which need not be entered again for ``CONFIRM_SECONDS``.

    Raises:
        FactorNotAllowed: the user has no password.
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        reauthentication.SignInAgain: the session has ended.
        passwords.Busy: too many passwords are being hashed. Call it outside of transactions.
        limits.TooMany: too many sign-ins from this network.

    """
    if not session.user.password:
        raise FactorNotAllowed("password: the user has none")
    reauthentication.reauthenticate(session, password)
    return _renew(session, renewal.record_password(session), experiences.current().tenant)


def renew(session: Session, tenant: Tenant) -> Renewed:
    """Let a session continue after its user was signed out everywhere, in the transaction that did it.

    ``tenant`` is that of the session.

    Raises:
        reauthentication.SignInAgain: the session has ended.

    """
    return _renew(session, renewal.renew(session), tenant)


def _renew(session: Session, token: str | None, tenant: Tenant) -> Renewed:
    if token is None:
        raise reauthentication.SignInAgain
    seconds = lifetimes.get_cookie_seconds(tenant, keep_signed_in=session.keep_signed_in)
    return Renewed(session, token, seconds)


def _check_usable(session: Session, factor: FactorType, experience: SignInExperience) -> None:
    if factor not in reauthentication.get_factors(session, experience.factor_policy):
        raise FactorNotAllowed("type: the user does not have this factor, or it cannot be used here")
