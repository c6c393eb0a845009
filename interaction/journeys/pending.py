"""The authorization request that a person is in the middle of."""

from dataclasses import dataclass
from urllib.parse import urlsplit
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from database import ids
from identity.core.errors import ServiceError
from identity.sessions import cookies
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest
from oidc.provider import parameters
from oidc.provider.authorization import request as authorization
from oidc.provider.authorization.refusals import Unanswerable
from oidc.provider.authorization.request import Authorization


class Expired(ServiceError):
    """The request is over, waited too long, or began in another browser."""

    reason = "interaction_expired"
    message = "interaction: unknown or expired: go back to the application and start again"


@dataclass(frozen=True, slots=True)
class Pending:
    """A request that waits for a person, and what it asks for."""

    parked: AuthorizationRequest
    asked: Authorization

    @property
    def application(self) -> Application:
        """The application that asks."""
        return self.asked.application

    @property
    def site(self) -> str:
        """Where the person will return to, as people read it."""
        parts = urlsplit(self.asked.redirect_uri)
        # Behind a private scheme, what looks like a host is a text of the application's choice.
        return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"

    @property
    def max_age(self) -> int | None:
        """How many seconds ago the person may have signed in at most; 0 is now, unset is any time."""
        return 0 if "login" in self.asked.prompt else self.asked.max_age

    @property
    def must_reauthenticate(self) -> bool:
        """Whether the person has to prove who they are again, unless they did so lately."""
        return self.max_age is not None

    @property
    def form_targets(self) -> tuple[str, ...]:
        """What a page's form may lead to besides https."""
        return redirect_uris.form_targets(self.asked.redirect_uri)

    @property
    def resume(self) -> str:
        """Where the request goes on."""
        return reverse("oidc:resume", args=[self.parked.pk])


def refused(pending: Pending) -> str:
    """Finish a request whose person nothing here can ask again; return the address that says so.

    OpenID Connect Core 3.1.2.1: the client MUST get an error, typically ``login_required``.
    """
    requests.finish(pending.parked)
    return pending.asked.answer(
        error="login_required", error_description="No way to sign in here asks the user again."
    )


def find(request: HttpRequest, interaction: str) -> Pending | None:
    """Return the named request of this browser or, when none is named, its newest.

    Raises:
        Expired: one is named that this browser has not.

    """
    request_id: UUID | None = ids.parse(interaction) if interaction else None
    if interaction and request_id is None:
        raise Expired
    parked = requests.find(cookies.get_browser(request), request_id)
    if parked is None:
        if interaction:
            raise Expired
        return None
    try:
        asked = authorization.validate(parameters.decoded(parked.query), application=parked.application)
    except (Unanswerable, authorization.Refused):
        # The application or its redirect URI changed meanwhile.
        requests.finish(parked)
        raise Expired from None
    return Pending(parked, asked)
