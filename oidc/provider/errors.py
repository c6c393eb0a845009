"""Refusals of the OAuth endpoints: small classes, rendered in one place as JSON that is never cached."""

from collections.abc import Callable
from functools import wraps
from typing import ClassVar, Final

import orjson
from django.http import HttpRequest, HttpResponse

from identity.limits.services import TooMany
from oidc.provider import parameters

_BASIC: Final = 'Basic realm="gatehouse", charset="UTF-8"'
View = Callable[[HttpRequest], HttpResponse]


class OAuthError(Exception):
    """A refusal in the form of RFC 6749 section 5.2: a code for programs, a sentence for developers."""

    code: ClassVar[str]
    status: ClassVar[int] = 400
    description = ""

    def __init__(self, description: str = "") -> None:
        self.description = description or self.description
        super().__init__(self.description)


class InvalidRequest(OAuthError):
    """A parameter is missing, malformed or sent twice."""

    code = "invalid_request"
    description = "The request lacks a parameter or has one that is not valid."


class WrongMethod(InvalidRequest):
    """The endpoint takes POST only."""

    status = 405
    description = "The method must be POST."


class InvalidClient(OAuthError):
    """Client authentication failed. ``client_id`` is the one that was claimed."""

    code = "invalid_client"
    status = 401
    description = "The client is unknown or its credentials are wrong."

    def __init__(self, description: str = "", *, client_id: str) -> None:
        self.client_id = client_id
        super().__init__(description)


class InvalidGrant(OAuthError):
    """The authorization code or refresh token buys nothing."""

    code = "invalid_grant"
    description = "The code or refresh token is wrong, expired, used or was issued to another client."


class UnauthorizedClient(OAuthError):
    """The client is authenticated, but this is not for it."""

    code = "unauthorized_client"
    description = "The client may not use this grant type."


class UnsupportedGrantType(OAuthError):
    """There is no such grant."""

    code = "unsupported_grant_type"


def rendered(view: View) -> View:
    """Render what a view of an OAuth endpoint refuses."""

    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except parameters.InvalidParameters as refused:
            return oauth_error("invalid_request", refused.description, status=refused.status)
        except TooMany as refused:
            return _too_many_failures(refused)
        except OAuthError as refused:
            headers = _headers(refused, is_basic="HTTP_AUTHORIZATION" in request.META)
            return oauth_error(refused.code, refused.description, status=refused.status, headers=headers)

    return wrapped


def _headers(refused: OAuthError, *, is_basic: bool) -> dict[str, str]:
    if isinstance(refused, WrongMethod):
        return {"Allow": "POST, OPTIONS"}
    if isinstance(refused, InvalidClient) and is_basic:
        # RFC 6749 section 5.2: the response MUST include the header field that matches the
        # authentication scheme used by the client.
        return {"WWW-Authenticate": _BASIC}
    return {}


def _too_many_failures(refused: TooMany) -> HttpResponse:
    return oauth_error(
        "temporarily_unavailable",
        "There were too many failed requests. Try again later.",
        status=refused.status,
        headers=refused.headers,
    )


def oauth_error(
    error: str, description: str, *, status: int = 400, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Return the answer ``{error, error_description}``."""
    return oauth_json({"error": error, "error_description": description}, status=status, headers=headers)


def oauth_json(
    body: dict[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Return an answer in JSON that no cache keeps (RFC 6749 section 5.1)."""
    response = HttpResponse(orjson.dumps(body), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    response["Pragma"] = "no-cache"
    for name, value in (headers or {}).items():
        response[name] = value
    return response
