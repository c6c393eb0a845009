"""Changing the email or phone of an account: it counts once a code that was sent there came back."""

from typing import Final

from django.db import transaction

from identity.core.errors import ServiceError
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.journeys import codes
from interaction.journeys.account import confirmation
from interaction.verification import recipients
from interaction.verification import services as verification
from interaction.verification.models import Purpose

_NOTICES: Final = {Kind.EMAIL: Notice.EMAIL_CHANGED, Kind.PHONE: Notice.PHONE_CHANGED}


class NothingAwaited(ServiceError):
    """No code is on its way: it expired, was guessed at too often, or was never sent."""

    reason = "nothing_awaited"
    message = "code: expired: ask for another"


class Taken(ServiceError):
    """Somebody else in this tenant has the email or phone."""

    reason = "contact_taken"
    message = "somebody else has it already"


def begin(session: Session, *, kind: Kind, address: str, password: str) -> None:
    """Send a code to the email or phone that a person wants to have.

    Nobody learns here whether somebody else has it already.

    Raises:
        Invalid: it is no email or phone.
        credentials.InvalidCredentials: the password is wrong.
        confirmation.SignInAgain: there is none, and the sign-in is too old.
        delivery.NoConnector: nothing can be sent there.
        verification.SentTooOften: a code was sent there a moment ago.
        limits.TooMany: too many from this address.

    """
    to = recipients.address_of(kind, address)
    confirmation.confirm(session, password)
    codes.send(purpose=Purpose.CHANGE, kind=kind, identifier=to, browser=_binding(session))


def awaited(session: Session, kind: Kind) -> str | None:
    """Return where the code went that the person has still to enter, if one did."""
    sent = verification.find_pending_code(purpose=Purpose.CHANGE, kind=kind, browser=_binding(session))
    return sent.address if sent else None


def finish(session: Session, *, kind: Kind, code: str) -> None:
    """Give the person the email or phone that the code was sent to, verified from now on.

    A notice goes to an address that was proven before.

    Raises:
        NothingAwaited: no code is to be entered.
        confirmation.SignInAgain: the session ended meanwhile.
        verification.WrongCode: it is another.
        Taken: somebody else has proven the email or phone; an account that has not loses it.
        limits.TooMany: too many from this address.

    """
    address = awaited(session, kind)
    if address is None:
        raise NothingAwaited
    proof = codes.verify(
        purpose=Purpose.CHANGE, kind=kind, identifier=address, code=code, browser=_binding(session)
    )
    user = session.user
    before = user.proven_addresses()
    somebody = User.objects.filter(**{f"{kind}_key": proof.identifier_key}).exclude(pk=session.user_id)
    if any(other.has_proven(kind) for other in somebody):
        raise Taken
    with transaction.atomic():
        verification.spend(proof)
        users.change(session.user, {kind.value: proof.address}, proven=kind)
        confirmation.check_still_signed_in(session)
        if before.get(kind) != proof.address:
            notify(user, _NOTICES[kind], to=before)


def _binding(session: Session) -> str:
    """Tie a code to the session, hence to the person: another one in this browser cannot enter it."""
    return str(session.pk)
