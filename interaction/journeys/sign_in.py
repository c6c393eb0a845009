"""Signing in."""

from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from audit import log
from audit.events import Event
from audit.log import Attempt
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.limits.services import LoginAttempt
from identity.sessions import services as sessions
from identity.sessions.known_users import KnownUsers
from identity.sessions.models import Session
from identity.users import credentials, identifiers, ownership, passwords, typed
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experience
from interaction.journeys import codes
from interaction.journeys.pending import Pending
from interaction.verification import services as verification
from interaction.verification.models import Purpose
from oidc.grants import requests


class MethodOff(ServiceError):
    """The tenant does not let this kind of identifier sign in like this."""

    reason = "method_off"

    def __init__(self, kind: str, way: str = "password") -> None:
        super().__init__(f"identifier: signing in with {kind} and {way} is switched off")


class Locked(credentials.InvalidCredentials):
    """Too many failed before. Told in the same words, whoever it is and whatever the password was."""

    reason = "locked"

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Where to go next, the secret for the browser's session cookie, and who is signed in."""

    redirect_to: str
    session_token: str
    user: User


def with_password(
    *,
    identifier: str,
    password: str,
    pending: Pending | None,
    current: Session | None,
    known: KnownUsers,
) -> SignedIn:
    """Sign a browser in with identifier and password.

    ``current`` is the browser's session so far: it goes on, with a new secret, for the same
    user, and ends for another. ``known`` are the people whom the browser signed in before.

    Raises:
        MethodOff: the tenant does not take passwords for this kind of identifier.
        credentials.InvalidCredentials: nobody is known by these. Never told which is wrong.
        Locked: too many failed before, with this identifier from this address, or from everywhere.
        limits.TooMany: too many from this address.
        credentials.Suspended: they are right, but the account is suspended.
        passwords.Busy: too many sign-ins at this moment.

    """
    passwords.check_places()  # a flood costs no statement, and is not in the log
    kind, key = identifiers.key_of(identifier)
    device = known.find_device(kind, key)
    login_attempt = limits.login_attempt(
        (rules.PAIR, f"{kind} {key} {limits.client_network()}"),
        (rules.KNOWN_BROWSER, f"{kind} {key} {device}") if device else (rules.IDENTIFIER, f"{kind} {key}"),
        failure=credentials.InvalidCredentials,
        within=rules.SIGN_INS,
    )
    with login_attempt as attempt, log.attempt(Event.SIGN_IN_PASSWORD, typed.identifier(identifier)) as entry:
        entry.application_id = pending.application.pk if pending else None
        if not experience.current().can_use_password(kind):
            raise MethodOff(kind)
        attempt.check(Locked)
        try:
            user = credentials.authenticate(identifier=identifier, password=password)
        except credentials.InvalidCredentials:
            if device:
                _count_stranger(kind, key, known, device)
            raise
        if device and not known.is_current(device, user):
            _check_identifier(kind, key)
        return start(user, amr=["pwd"], entry=entry, pending=pending, current=current, attempt=attempt)


def _check_identifier(kind: Kind, key: str, *, failed: bool = False) -> None:
    """Apply the lock of the identifier to a browser that knows it from an earlier time, or of another user.

    Raises:
        Locked: too many failed before.
        credentials.InvalidCredentials: this one ``failed``, and is counted.

    """
    lock = (rules.IDENTIFIER, f"{kind} {key}")
    with limits.login_attempt(lock, failure=credentials.InvalidCredentials, locked=Locked) as attempt:
        if failed:
            raise credentials.InvalidCredentials
        attempt.cancel()


def _count_stranger(kind: Kind, key: str, known: KnownUsers, device: str) -> None:
    user = User.objects.filter(**{f"{kind}_key": key}).first()
    if user is None or not known.is_current(device, user):
        _check_identifier(kind, key, failed=True)


def with_code(  # noqa: PLR0913 - what a code is bound to
    *,
    kind: Kind,
    identifier: str,
    code: str,
    browser: str,
    pending: Pending | None,
    current: Session | None,
) -> SignedIn:
    """Sign a browser in with a code that was sent to it (``codes``, purpose ``sign_in``).

    No failed password locks this way in. The email or phone is verified from now on.

    Raises:
        MethodOff: the tenant does not take codes for this kind of identifier.
        verification.WrongCode: not the code that was sent, or no longer, or nobody is known.
        credentials.Suspended: the code is right, but the account is suspended.
        limits.TooMany: too many from this address.

    """
    attempted = log.attempt(Event.SIGN_IN_CODE, typed.identifier(identifier))
    with codes.guess_code() as attempt, attempted as entry:
        entry.application_id = pending.application.pk if pending else None
        if not experience.current().can_use_code(kind):
            raise MethodOff(kind, "verification code")
        proof = verification.verify(
            purpose=Purpose.SIGN_IN, kind=kind, identifier=identifier, code=code, browser=browser
        )
        user = ownership.find_by_proof(kind, proof.identifier_key, address=proof.address)
        if user is None:
            raise verification.WrongCode
        if user.is_suspended:
            raise credentials.Suspended
        proven = (kind, proof.identifier_key)
        try:
            with transaction.atomic():
                verification.spend(proof)
                return start(
                    user,
                    amr=["otp"],
                    entry=entry,
                    pending=pending,
                    current=current,
                    proven=proven,
                    attempt=attempt,
                )
        except (ownership.NotTheOwner, credentials.InvalidCredentials):
            # Somebody else proved something about the account at this moment.
            raise verification.WrongCode from None


def start(  # noqa: PLR0913 - what signing in touches
    user: User,
    *,
    amr: list[str],
    entry: Attempt,
    pending: Pending | None,
    current: Session | None,
    proven: tuple[Kind, str] | None = None,
    attempt: LoginAttempt | None = None,
    auth_time: datetime | None = None,
) -> SignedIn:
    """Open the session of a person who proved who they are: all that this changes, or nothing.

    ``entry`` is the entry of the sign-in, which succeeds, and ``attempt`` its login attempt. ``proven``
    is the kind and the key of the identifier that the person has just shown to be theirs. ``auth_time``
    is when they proved who they are, if that was not here and now.

    Raises:
        credentials.Suspended: the account was suspended meanwhile.
        credentials.InvalidCredentials: its password was changed meanwhile.
        ownership.NotTheOwner: what was proven does not let in any more.

    """
    entry.user_id = user.pk
    if current is None and proven is None:
        token = _start_anew(user, sessions.new(user, amr=amr, auth_time=auth_time), entry, pending, attempt)
    else:
        with transaction.atomic():
            credentials.signed_in(user)  # the user's row first, as everywhere: nobody waits in a circle
            if attempt:
                attempt.succeed()
            if proven is not None:
                ownership.accept_proof(user, *proven)
            session, token = sessions.start(user, amr=amr, auth_time=auth_time, replacing=current)
            if pending:
                requests.note_sign_in(pending.parked, session)
            entry.facts["session_id"] = str(session.pk)
            entry.succeeded()
    return SignedIn(pending.resume if pending else reverse("pages:account"), token, user)


def _start_anew(
    user: User,
    made: tuple[Session, str],
    entry: Attempt,
    pending: Pending | None,
    attempt: LoginAttempt | None,
) -> str:
    """Sign in a browser in which nobody was: one statement, since most sign-ins are like this."""
    session, token = made
    written = entry.success(session_id=str(session.pk))
    credentials.signed_in(
        user,
        (sessions.INSERT, session),
        *([requests.noting_sign_in(pending.parked, session)] if pending else []),
        *(attempt.success_statements() if attempt else []),
        (log.INSERT, written),
    )
    entry.was_written(written)
    if attempt:
        attempt.succeed()
    return token
