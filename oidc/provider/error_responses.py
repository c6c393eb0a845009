"""The responses to errors. Each view has one of these decorators, and catches no error itself."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers
from identity.limits.services import TooMany
from oidc.provider import client_responses
from oidc.provider.authorization.response import Refused
from oidc.provider.bearer import InvalidBearer
from oidc.provider.errors import (
    InsufficientScope,
    InvalidClient,
    MissingToken,
    OAuthError,
    Unanswerable,
    UnknownRedirectUri,
    WrongMethod,
)
from oidc.provider.parameters import InvalidParameters

_BASIC: Final = 'Basic realm="gatehouse", charset="UTF-8"'
_BEARER: Final = 'Bearer realm="gatehouse"'
View = Callable[[HttpRequest], HttpResponse]
PageView = Callable[..., HttpResponse]  # the arguments of the path differ


def json_errors(view: View) -> View:
    """Return the errors of a view as JSON (RFC 6749 section 5.2)."""

    @wraps(view)
    def wrapped(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except InvalidParameters as error:
            return oauth_error("invalid_request", error.description, status=error.status)
        except TooMany as error:
            return oauth_error(
                "temporarily_unavailable",
                "There were too many failed requests. Try again later.",
                status=error.status,
                headers=error.headers,
            )
        except OAuthError as error:
            headers = _get_headers(error, is_basic="HTTP_AUTHORIZATION" in request.META)
            return oauth_error(error.code, error.description, status=error.status, headers=headers)

    return wrapped


def bearer_errors(view: View) -> View:
    """Return the errors of a view as JSON and as a challenge for an access token (RFC 6750 section 3)."""

    @wraps(view)
    @json_errors
    def wrapped(request: HttpRequest) -> HttpResponse:
        try:
            return view(request)
        except InvalidParameters as error:
            return _challenge("invalid_request", error.description, status=error.status)
        except MissingToken as error:
            # RFC 6750 section 3.1: without authentication information, no error code.
            return oauth_error("invalid_token", str(error), status=401, headers={"WWW-Authenticate": _BEARER})
        except InvalidBearer as error:
            return _challenge("invalid_token", str(error), status=401)
        except InsufficientScope as error:
            return _challenge("insufficient_scope", str(error), status=403, scope=error.scope)

    return wrapped


def page_errors(
    *, title: Promise, message: Promise, next_step: Promise, get_link: Callable[[], Link] | None = None
) -> Callable[[PageView], PageView]:
    """Return the errors of a view as a response to the client or, if that is not possible, as a page."""

    def decorate(view: PageView) -> PageView:
        @wraps(view)
        def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                return view(request, *args, **kwargs)
            except Refused as error:
                return client_responses.send(request, error.response)
            except (InvalidParameters, Unanswerable) as error:
                return error_page(
                    request,
                    error.status if isinstance(error, InvalidParameters) else 400,
                    title=str(title),
                    message=f"{message} {error}",
                    next_step=str(next_step),
                    link=get_link() if get_link else None,
                    developer=_describe_for_developer(error),
                )
            except TooMany as error:
                return _too_many_page(request, error)

        return wrapped

    return decorate


def oauth_error(
    error: str, description: str, *, status: int = 400, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Return the response ``{error, error_description}``."""
    return oauth_json({"error": error, "error_description": description}, status=status, headers=headers)


def oauth_json(
    body: dict[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Return JSON that no cache may store (RFC 6749 section 5.1)."""
    response = HttpResponse(orjson.dumps(body), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    response["Pragma"] = "no-cache"
    return add_headers(response, headers or {})


def _get_headers(error: OAuthError, *, is_basic: bool) -> dict[str, str]:
    if isinstance(error, WrongMethod):
        return {"Allow": ", ".join((*error.allowed, "OPTIONS"))}
    if isinstance(error, InvalidClient) and is_basic:
        # RFC 6749 section 5.2: the response MUST include the header field that matches the
        # authentication scheme used by the client.
        return {"WWW-Authenticate": _BASIC}
    return {}


def _challenge(error: str, description: str, *, status: int, scope: str = "") -> HttpResponse:
    """Return a challenge (RFC 6750 section 3). ``scope`` is the required one."""
    required = f', scope="{scope}"' if scope else ""
    challenge = f'{_BEARER}, error="{error}", error_description="{description}"{required}'
    return oauth_error(error, description, status=status, headers={"WWW-Authenticate": challenge})


def _describe_for_developer(error: Exception) -> dict[str, object] | None:
    """Return what the developer of an application has to correct; None in production."""
    if not (settings.DEVELOPMENT and isinstance(error, UnknownRedirectUri)):
        return None
    return {
        "parameter": error.parameter,
        "sent": error.sent,
        "registered": error.registered,
        # The console exists only at the root, not below a tenant's prefix.
        "console_url": f"{settings.BASE_URL}/admin/applications/application/{error.application_id}/change/",
    }


def _too_many_page(request: HttpRequest, error: TooMany) -> HttpResponse:
    response = error_page(
        request,
        error.status,
        title=_("Too many sign-ins at once"),
        message=_("Too many requests from your network. Wait a few minutes and try again."),
        next_step=_("Go back to the application and sign in again."),
    )
    return add_headers(response, error.headers)
