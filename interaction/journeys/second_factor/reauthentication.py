"""Reauthentication: the user proves the identity again before a sensitive change."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

from django.conf import settings

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.factors.errors import FactorError
from identity.factors.kinds import FactorType
from identity.factors.levels import Level
from identity.factors.policy import Policy
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions.models import Session
from identity.users import credentials, sign_in_locks
from interaction.experience import services as experiences
from interaction.journeys.locks import Locked
from interaction.journeys.second_factor import available_factors, sign_ins

# The one way to confirm the identity without a second factor.
BY_PASSWORD: Final = "Password"  # noqa: S105 - the name of a way
RECENT: Final = timedelta(seconds=settings.CONFIRM_SECONDS)


class SignInAgain(ServiceError):
    """A user without a password signed in too long ago, or the session has ended."""

    status = 403
    reason = "sign_in_again"
    message = f"sign in again, and come back within {settings.CONFIRM_SECONDS} seconds"


class NotSignedIn(ServiceError):
    """The browser has no live session."""

    status = 401
    reason = "not_signed_in"
    message = "sign in first"


class ConfirmNeeded(FactorError):
    """The user has to confirm the identity. ``result`` has the ways: without any, the user signs in again."""

    status = 403
    reason = "confirm_needed"
    message = f"confirm that it is you, and repeat the request within {settings.CONFIRM_SECONDS} seconds"

    def __init__(self, ways: Sequence[Mapping[str, str]]) -> None:
        super().__init__()
        self.result = {"reason": self.reason, "ways": list(ways)}


def has_recent_factor(session: Session) -> bool:
    """Return whether the user proved a second factor in this session within ``CONFIRM_SECONDS``."""
    proven_at = session.second_factor_at
    return proven_at is not None and session.now - proven_at <= RECENT


def get_factors(session: Session, policy: Policy | None = None) -> list[FactorType]:
    """Return the second factors that the user has and the tenant uses now.

    If the session began with a code, codes to the same address are not among them. After two factors, it may
    have begun with a code or with an account elsewhere unless the password was the first: then codes that may
    go to the channel of the first factor do not count if the user has another factor. ``policy`` is that of
    the tenant, if the caller has read it.
    """
    user = session.user
    if not (user.factors or user.two_step or session.level > Level.ONE):
        return []  # the tenant's policy need not be read
    policy = policy or experiences.current().factor_policy
    if not policy.is_on:
        return []
    available = available_factors.find(user, policy)
    entered = sign_ins.of_session(session).entered
    if session.level > Level.ONE:
        entered = available_factors.leave_out(
            available, policy, sign_ins.find_first_channels(session), entered
        )
    return available.get_usable(
        policy, available_factors.find_used_channels(user, available, policy, entered)
    )


def check_factor(session: Session) -> None:
    """Check that a user who has a second factor proved it within ``CONFIRM_SECONDS``.

    Raises:
        ConfirmNeeded: the user has to prove it again: see ``second_factor.session_proofs``.

    """
    if has_recent_factor(session):
        return
    if factors := get_factors(session):
        user = session.user
        raise ConfirmNeeded(
            [
                {"type": factor.value} | ({"masked": masked} if masked else {})
                for factor in factors
                for masked in [available_factors.mask_address(user, factor)]
            ]
        )


def must_sign_in_again(session: Session) -> bool:
    """Return whether a user without a password has to sign in again before a sensitive change."""
    return not session.user.password and session.now - session.auth_time > RECENT


def is_too_old_to_enrol(session: Session) -> bool:
    """Return whether the user has to sign in again before a factor can be set up in the session.

    A user with a password must have entered it within ``CONFIRM_SECONDS``. Other users must have signed in or
    proven a factor.
    """
    if must_enter_password(session):
        return True
    return not has_recent_factor(session) and session.now - session.auth_time > RECENT


def has_just_signed_in(session: Session) -> bool:
    """Return whether the session was started or renewed by a sign-in within ``CONFIRM_SECONDS``.

    ``auth_time`` may be earlier: it is when the first factor was proven, or what a provider says.
    """
    return session.now - session.signed_in_at <= RECENT


def check_still_signed_in(session: Session) -> None:
    """Check that a session has not ended meanwhile.

    Call it in the transaction that changes the user, with the user's row locked: then a recovery, a new
    password or a sign-out either waits for the change or is seen here.

    Raises:
        SignInAgain: the session has ended.

    """
    if not Session.objects.live().filter(pk=session.pk).exists():
        raise SignInAgain


def reauthenticate(session: Session, password: str) -> None:
    """Check the password or, if the user has none, that the sign-in is at most ``CONFIRM_SECONDS`` ago.

    A user who has a second factor must have proven it within that time, too. Wrong passwords lock the
    reauthentication as they lock a sign-in, so that nobody can guess the password in an unattended browser.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        SignInAgain: the user has no password, and the sign-in is too old.
        ConfirmNeeded: the user has a second factor, and proved it too long ago.
        limits.TooMany: too many sign-ins from this network.
        passwords.Busy: too many passwords are being hashed. Call it outside of transactions.

    """
    limits.hit_by_network(rules.SIGN_INS)  # before the attempt, so that a refusal writes no entry
    with log.attempt(Event.PASSWORD_VERIFY, session_id=str(session.pk)) as audited:
        audited.user_id = session.user_id
        check_factor(session)
        if session.user.password:
            group = sign_in_locks.get_confirmation_group(session.user_id)
            with limits.login_attempt(
                sign_in_locks.get_network_lock(group, limits.client_network()),
                sign_in_locks.get_shared_lock(group),
                failure=credentials.InvalidCredentials,
                locked=Locked,
                group=group,
            ):
                credentials.check_password(session.user, password)
        elif must_sign_in_again(session):
            raise SignInAgain
        else:
            audited.facts["method"] = "recent_sign_in"


def must_enter_password(session: Session) -> bool:
    """Return whether a user has to enter the password before a change of factors."""
    now = session.now
    entered_at_sign_in = "pwd" in session.amr and now - session.auth_time <= RECENT
    confirmed_at = session.password_confirmed_at
    entered_since = confirmed_at is not None and now - confirmed_at <= RECENT
    return bool(session.user.password) and not (entered_at_sign_in or entered_since)


def check_for_factors(session: Session) -> None:
    """Check, when a change of factors begins, that the user can confirm the identity when it ends.

    Raises:
        SignInAgain: the user has no password, and the sign-in is too old.
        ConfirmNeeded: the user has a second factor, and proved it too long ago.

    """
    check_factor(session)
    if must_sign_in_for_factors(session):
        raise SignInAgain


def must_sign_in_for_factors(session: Session) -> bool:
    """Return whether a user without a password has to sign in again before a change of factors."""
    return must_sign_in_again(session) and not has_recent_factor(session)


def check_reauthenticated(session: Session) -> None:
    """Check that the user has confirmed the identity, and may change factors.

    Raises:
        ConfirmNeeded: the second factor, the password or a new sign-in is missing.

    """
    check_factor(session)
    if must_enter_password(session):
        raise ConfirmNeeded([{"type": BY_PASSWORD}])
    if must_sign_in_for_factors(session):
        raise ConfirmNeeded([])


def reauthenticate_for_factors(session: Session, password: str) -> None:
    """Check the second factor and the password that a user has, before a change of factors.

    A session alone never changes a factor. A user with neither of the two must have signed in within
    ``CONFIRM_SECONDS``: with a code that was sent, a passkey or a social provider.

    Raises:
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        SignInAgain: the user has neither, and the sign-in is too old.
        ConfirmNeeded: the user has a second factor, and proved it too long ago; or the password is missing.
        limits.TooMany: too many sign-ins from this network.
        passwords.Busy: too many passwords are being hashed. Call it outside of transactions.

    """
    check_for_factors(session)
    if must_enter_password(session):
        if not password:
            raise ConfirmNeeded([{"type": BY_PASSWORD}])
        reauthenticate(session, password)
