"""What is answered where no view answers: unknown paths, malformed requests, failures.

The shape follows the path: an envelope below ``/api/``, OAuth's JSON at its endpoints, a
page for people everywhere else.
"""

import sys
from functools import cache
from typing import Final

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, set_script_prefix
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from audit import context
from identity.http.error_page import error_page
from identity.users import passwords
from management.api.envelope import plain_refusal
from oidc.provider.errors import oauth_error

_OAUTH: Final = (
    "/oidc/token",
    "/oidc/revoke",
    "/oidc/userinfo",
    "/.well-known/",
    "/oidc/.well-known/",
)
_RETRY_AFTER: Final = "2"  # seconds
_ANY_TENANT: Final = "/in-place-of-a-tenant/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer a request that cannot be understood."""
    return _answer(
        request,
        400,
        word="invalid_request",
        title=_("That request makes no sense"),
        message=_("Your browser sent something that cannot be read."),
        next_step=_("Go back and try again."),
    )


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer what is not allowed."""
    return _answer(
        request,
        403,
        word="invalid_request",
        title=_("This is not allowed"),
        message=_("You may not see this page."),
        next_step=_("Go back to where you came from."),
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer an unknown path."""
    return _answer(
        request,
        404,
        word="invalid_request",
        title=_("There is nothing here"),
        message=_("The address may be mistyped, or what was here is gone."),
        next_step=_("Check the address, or go back to the application you came from."),
    )


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer a failure of ours, and say to come back when it is the database that is away."""
    if isinstance(sys.exc_info()[1], OperationalError | InterfaceError):
        response = _answer(
            request,
            503,
            word="temporarily_unavailable",
            title=_("We will be right back"),
            message=_("The service cannot reach its database at this moment."),
            next_step=_("Wait a few seconds and try again."),
        )
        response["Retry-After"] = _RETRY_AFTER
        return response
    return _answer(
        request,
        500,
        word="server_error",
        title=_("Something went wrong on our side"),
        message=_("It is not your fault, and nothing you did is lost."),
        next_step=_("Try again. If it happens again, tell those who run this service the reference below."),
    )


def wrong_method(request: HttpRequest) -> HttpResponse:
    """Answer a method that the address does not know."""
    return _answer(
        request,
        405,
        word="invalid_request",
        title=_("That cannot be done here"),
        message=_("The address is right, but what was asked of it is not possible."),
        next_step=_("Go back to the application you came from."),
    )


def too_large(request: HttpRequest, limit: int) -> HttpResponse:
    """Answer a body of more bytes than its path takes."""
    size = f"{limit // 1024} KiB"
    if request.path_info.startswith("/api/"):
        return plain_refusal(413, f"the body is larger than {size}")
    return _answer(
        request,
        413,
        word="invalid_request",
        title=_("That is too much"),
        message=_("the body is larger than %(size)s") % {"size": size},
        next_step=_("Send less."),
    )


def overloaded(request: HttpRequest) -> HttpResponse:
    """Answer somebody for whose password there is no place at this moment.

    Many are answered so, hence a page is rendered once for each language: nobody has looked yet whether the
    tenant in the path is one, and whoever floods us may name another each time.
    """
    refusal = passwords.Busy()
    if request.path_info.startswith("/api/"):
        response = plain_refusal(refusal.status, refusal.message)
    else:
        page, its_id = _overloaded(get_language())
        page = page.replace(its_id, context.current().request_id).replace(_ANY_TENANT, get_script_prefix())
        response = HttpResponse(page, status=refusal.status)
        response["Cache-Control"] = "no-store"
    for name, value in refusal.headers.items():
        response[name] = value
    return response


@cache
def _overloaded(language: str | None) -> tuple[str, str]:
    """Return a page of any tenant in a language, and the id of the request that it was rendered for."""
    prefix = get_script_prefix()
    set_script_prefix(_ANY_TENANT)
    try:
        response = error_page(
            HttpRequest(),
            passwords.Busy.status,
            title=_("Many people are signing in at this moment"),
            message=_("It is not your fault, and nothing you did is lost."),
            next_step=_("Wait a few seconds and try again."),
        )
    finally:
        set_script_prefix(prefix)
    return response.text, context.current().request_id


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Answer a form that did not come from our own page, or from one that is too old."""
    return _answer(
        request,
        403,
        word="invalid_request",
        title=_("This page was open for too long"),
        message=_("For your safety the form was not sent."),
        next_step=_("Go back, reload the page and try again. Your browser must accept cookies."),
    )


def _answer(  # noqa: PLR0913 - the parts of a page
    request: HttpRequest, status: int, *, word: str, title: str, message: str, next_step: str
) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        return plain_refusal(status, title.lower())
    if request.path_info.startswith(_OAUTH):
        return oauth_error(word, f"{title}.", status=status)
    return error_page(request, status, title=title, message=message, next_step=next_step)
