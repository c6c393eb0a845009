"""Signing in."""

from dataclasses import dataclass

from django.db import transaction
from django.urls import reverse

from audit import log
from audit.events import Event
from audit.log import Attempt
from identity.core.errors import ServiceError
from identity.limits import rules
from identity.limits import services as limits
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import identifiers, passwords
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from interaction.experience import services as experience
from interaction.journeys.pending import Pending
from interaction.verification import services as verification
from interaction.verification.models import Purpose
from oidc.grants import requests


class MethodOff(ServiceError):
    """The tenant does not let this kind of identifier sign in like this."""

    reason = "method_off"

    def __init__(self, kind: str, way: str = "password") -> None:
        super().__init__(f"identifier: signing in with {kind} and {way} is switched off")


class Locked(users.InvalidCredentials):
    """Too many failed before. Told in the same words, whoever it is and whatever the password was."""

    reason = "locked"

    def __init__(self, seconds: int) -> None:
        super().__init__(headers={"Retry-After": str(seconds)})


@dataclass(frozen=True, slots=True)
class SignedIn:
    """Where to go next, and the secret for the browser's session cookie."""

    redirect_to: str
    session_token: str


def with_password(
    *, identifier: str, password: str, pending: Pending | None, current: Session | None
) -> SignedIn:
    """Sign a browser in with identifier and password.

    ``current`` is the browser's session so far: it goes on, with a new secret, for the same
    user, and ends for another.

    Raises:
        MethodOff: the tenant does not take passwords for this kind of identifier.
        users.InvalidCredentials: nobody is known by these. Never told which is wrong.
        Locked: too many failed before, with this identifier from this address, or from everywhere.
        limits.TooMany: too many from this address.
        users.Suspended: they are right, but the account is suspended.
        passwords.Busy: too many sign-ins at this moment.

    """
    passwords.check_places()  # a flood costs no statement, and is not in the log
    kind, key = identifiers.key_of(identifier)
    guessing = limits.guessing(
        (rules.PAIR, f"{kind} {key} {limits.client_network()}"),
        (rules.IDENTIFIER, f"{kind} {key}"),
        failure=users.InvalidCredentials,
        within=rules.SIGN_INS,
    )
    with guessing as guess, log.attempt(Event.SIGN_IN_PASSWORD, username=identifier) as entry:
        entry.application_id = pending.application.pk if pending else None
        if not experience.current().takes_password_for(kind):
            raise MethodOff(kind)
        guess.check(Locked)
        user = users.authenticate(identifier=identifier, password=password)
        with transaction.atomic():
            guess.was_right()
            return start(user, amr=["pwd"], entry=entry, pending=pending, current=current)


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
        users.Suspended: the code is right, but the account is suspended.
        limits.TooMany: too many from this address.

    """
    limits.take_by_address(rules.SIGN_INS)
    with log.attempt(Event.SIGN_IN_CODE, username=identifier) as entry:
        entry.application_id = pending.application.pk if pending else None
        if not experience.current().takes_code_for(kind):
            raise MethodOff(kind, "verification code")
        proof = verification.verify(
            purpose=Purpose.SIGN_IN, kind=kind, identifier=identifier, code=code, browser=browser
        )
        user = User.objects.filter(**{f"{kind}_key": proof.identifier_key}).first()
        if user is None:
            raise verification.WrongCode
        if user.is_suspended:
            raise users.Suspended
        with transaction.atomic():
            verification.spend(proof)
            return start(user, amr=["otp"], entry=entry, pending=pending, current=current, proven=kind)


def start(  # noqa: PLR0913 - what signing in touches
    user: User,
    *,
    amr: list[str],
    entry: Attempt,
    pending: Pending | None,
    current: Session | None,
    proven: Kind | None = None,
) -> SignedIn:
    """Open the session of a person who proved who they are, in the transaction of the caller.

    ``entry`` is the attempt under way, which succeeds. ``proven`` is the kind of identifier that
    the person has just shown to be theirs.

    Raises:
        users.Suspended: the account was suspended meanwhile.
        users.InvalidCredentials: its password was changed meanwhile.

    """
    users.signed_in(user)
    if proven is not None:
        users.prove(user, proven)
    session, token = sessions.start(user, amr=amr, replacing=current)
    if pending:
        requests.note_sign_in(pending.parked, session)
    entry.user_id = user.pk
    entry.facts["session_id"] = str(session.pk)
    entry.succeeded()
    return SignedIn(pending.resume if pending else reverse("pages:account"), token)
