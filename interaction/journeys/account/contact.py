"""Changing a user's email or phone, verified with a code that is sent there."""

from typing import Final

from django.db import transaction

from identity.core.errors import ServiceError
from identity.core.proof import NO_ADMINISTRATOR
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.identifiers import Kind
from identity.users.models import User
from identity.users.notices import Notice, notify
from interaction.journeys import codes
from interaction.journeys.second_factor import reauthentication
from interaction.verification import recipients
from interaction.verification import services as verification
from interaction.verification.models import Purpose

_NOTICES: Final = {Kind.EMAIL: Notice.EMAIL_CHANGED, Kind.PHONE: Notice.PHONE_CHANGED}


class NoPendingCode(ServiceError):
    """There is no pending code: it has expired, was entered wrong too often, or was never sent."""

    reason = "nothing_awaited"
    message = "code: has expired, so request a new one"


class ContactTaken(ServiceError):
    """Another user of the tenant has proven the email or phone."""

    reason = "contact_taken"
    message = "another user already has this email address or phone number"


def begin(session: Session, *, kind: Kind, address: str, password: str) -> None:
    """Send a code to the new email or phone of a user.

    The result does not say whether another user has the address.

    Raises:
        Invalid: the address is not an email or phone.
        credentials.InvalidCredentials: the password is wrong.
        Locked: too many passwords were wrong before.
        reauthentication.SignInAgain: the user has no password, and the sign-in is too old.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        passwords.Busy: too many passwords are being hashed.
        delivery.NoConnector: no connector can send there.
        verification.SentTooOften: a code was sent there within the pause.
        limits.TooMany: too many from this network.

    """
    to = recipients.address_of(kind, address)
    reauthentication.reauthenticate(session, password)
    codes.send(purpose=Purpose.CHANGE, kind=kind, identifier=to, browser=_binding(session))


def find_pending_address(session: Session, kind: Kind) -> str | None:
    """Return the address of the pending code, if there is one."""
    code = verification.find_pending_code(purpose=Purpose.CHANGE, kind=kind, browser=_binding(session))
    return code.address if code else None


def finish(session: Session, *, kind: Kind, code: str) -> None:
    """Store the email or phone to which the code was sent, as verified.

    A notice goes to the previously proven address.

    Raises:
        NoPendingCode: there is no pending code.
        reauthentication.SignInAgain: the session ended meanwhile.
        reauthentication.ConfirmNeeded: the user has a second factor, and proved it too long ago.
        verification.WrongCode: the code is wrong.
        ContactTaken: another user has proven the address. An unproven address is taken from its user.
        limits.TooMany: too many from this network.

    """
    address = find_pending_address(session, kind)
    if address is None:
        raise NoPendingCode
    reauthentication.check_factor(session)
    proof = codes.verify(
        purpose=Purpose.CHANGE, kind=kind, identifier=address, code=code, browser=_binding(session)
    )
    user = session.user
    before = user.get_proven_addresses()
    others = User.objects.find_by_key(kind, proof.identifier_key).exclude(pk=session.user_id)
    if any(other.has_proven(kind) for other in others):
        raise ContactTaken
    with transaction.atomic():
        verification.spend(proof)
        users.change(session.user, {kind.value: proof.address}, proven=kind, is_proven=NO_ADMINISTRATOR)
        reauthentication.check_still_signed_in(session)
        if before.get(kind) != proof.address:
            notify(user, _NOTICES[kind], to=before)


def _binding(session: Session) -> str:
    """Return what a code is bound to: the session, so that another user of the browser cannot enter it."""
    return str(session.pk)
