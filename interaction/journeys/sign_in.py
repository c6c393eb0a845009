"""Signing in."""

from dataclasses import dataclass

from django.db import transaction
from django.urls import reverse

from audit import log
from audit.events import Event
from identity.core.errors import ServiceError
from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users import identifiers
from identity.users import services as users
from interaction.experience import services as experience
from interaction.journeys.pending import Pending
from oidc.grants import requests


class MethodOff(ServiceError):
    """The tenant does not let this kind of identifier sign in like this."""

    reason = "method_off"

    def __init__(self, kind: str) -> None:
        super().__init__(f"identifier: signing in with {kind} and password is switched off")


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
        users.Suspended: they are right, but the account is suspended.
        passwords.Busy: too many sign-ins at this moment.

    """
    with log.attempt(Event.SIGN_IN_PASSWORD, username=identifier) as entry:
        entry.application_id = pending.application.pk if pending else None
        kind = identifiers.kind_of(identifier)
        if not experience.current().takes_password_for(kind):
            raise MethodOff(kind)
        user = users.authenticate(identifier=identifier, password=password)
        with transaction.atomic():
            users.signed_in(user)
            session, token = sessions.start(user, amr=["pwd"], replacing=current)
            if pending:
                requests.note_sign_in(pending.parked, session)
            entry.user_id = user.pk
            entry.facts["session_id"] = str(session.pk)
            entry.succeeded()
    return SignedIn(pending.resume if pending else reverse("pages:account"), token)
