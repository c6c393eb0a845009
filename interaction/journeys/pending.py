"""The pending authorization request of a browser."""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse

from database import ids
from identity.core.errors import ServiceError
from identity.http import paths
from identity.sessions import cookies
from oidc.applications import redirect_uris
from oidc.applications.models import Application
from oidc.grants import requests
from oidc.grants.models import AuthorizationRequest
from oidc.provider.authorization.refusals import LoginRequired
from oidc.provider.authorization.request import Authorization, validate_stored
from oidc.provider.authorization.response import ClientResponse, Refused
from oidc.provider.errors import Unanswerable


class Expired(ServiceError):
    """The request has ended or expired, or belongs to another browser."""

    reason = "interaction_expired"
    message = "interaction: unknown or expired: go back to the application and start again"


@dataclass(frozen=True, slots=True)
class Pending:
    """A stored authorization request that waits for the user, and its validated parameters."""

    row: AuthorizationRequest
    authorization: Authorization

    @property
    def application(self) -> Application:
        """The requesting application."""
        return self.authorization.application

    @property
    def site(self) -> str:
        """The site to which the user returns, for display."""
        parts = urlsplit(self.authorization.redirect_uri)
        # With a private-use scheme the application can choose any text as the host.
        return parts.netloc if parts.scheme in {"http", "https"} else f"{parts.scheme}:"

    @property
    def max_age(self) -> int | None:
        """The maximum age of the sign-in in seconds; None for no limit. ``prompt=login`` counts as 0."""
        return 0 if "login" in self.authorization.prompt else self.authorization.max_age

    @property
    def must_reauthenticate(self) -> bool:
        """Whether the request limits the age of the sign-in."""
        return self.max_age is not None

    @property
    def form_targets(self) -> tuple[str, ...]:
        """The origins and schemes, besides https, to which a form may redirect (CSP ``form-action``)."""
        return redirect_uris.form_targets(self.authorization.redirect_uri)

    @property
    def resume_url(self) -> str:
        """The URL that resumes the request."""
        return reverse("oidc:resume", args=[self.row.pk])


def page_url(name: str, pending: Pending | None, *parts: object, **query: str) -> str:
    """Return the URL of a page for a pending request. ``parts`` are the variable parts of its path."""
    url = reverse(name, args=parts) if parts else paths.get(name)
    parameters = ({"interaction": str(pending.row.pk)} if pending else {}) | query
    return f"{url}?{urlencode(parameters)}" if parameters else url


def refuse_reauthentication(pending: Pending) -> ClientResponse:
    """End a request if no sign-in method can reauthenticate the user; return the response with the error.

    OpenID Connect Core 3.1.2.1: the client MUST get an error, typically ``login_required``.
    """
    requests.finish(pending.row)
    return pending.authorization.build_error_response(
        LoginRequired("a new sign-in is required, and no way to sign in here can ask the user again")
    )


def find(request: HttpRequest, interaction: str) -> Pending | None:
    """Return this browser's request with the id ``interaction``, or its newest if that is empty.

    Raises:
        Expired: the browser has no pending request with this id.

    """
    request_id = parse_id(interaction)
    row = requests.find(cookies.get_browser(request), request_id, proofs=cookies.get_proofs(request))
    return read_found(row, request_id)


def parse_id(interaction: str) -> UUID | None:
    """Return the id of a request, or None if ``interaction`` is empty.

    Raises:
        Expired: ``interaction`` is no id.

    """
    request_id: UUID | None = ids.parse(interaction) if interaction else None
    if interaction and request_id is None:
        raise Expired
    return request_id


def read_found(row: AuthorizationRequest | None, request_id: UUID | None) -> Pending | None:
    """Return as ``find`` what was found for an id or, without an id, as the browser's newest request."""
    if row is not None:
        return read(row)
    if request_id is not None:
        raise Expired
    return None


def read(row: AuthorizationRequest) -> Pending:
    """Return a stored request with its validated parameters.

    Raises:
        Expired: the application or its redirect URI changed meanwhile. The request has ended.

    """
    try:
        return Pending(row, validate_stored(row))
    except Refused:
        raise Expired from None
    except Unanswerable:
        requests.finish(row)
        raise Expired from None
