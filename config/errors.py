"""Error responses to requests that no view answers: unknown paths, malformed requests, failures.

The path decides the format: the envelope below ``/api/``, OAuth's JSON at its endpoints, and an HTML page
elsewhere.
"""

import codecs
import errno
import logging
import sys
from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, get_script_prefix, reverse, set_script_prefix
from django.utils.encoding import escape_uri_path
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from audit import context
from database import availability
from identity.http import areas
from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers
from identity.tenants.models import Tenant
from identity.users import passwords
from interaction.experience.models import SignInExperience
from management.api.envelope import plain_refusal
from oidc.provider.error_responses import oauth_error

_logger: Final = logging.getLogger(__name__)
_LONGEST_MESSAGE: Final = 250  # characters
_RETRY_AFTER: Final = "2"  # seconds
# Python's messages of RuntimeError: the process ends, or the system has no thread left.
_NO_THREAD: Final = ("cannot schedule new futures after", "can't start new thread")
_TENANT_PLACEHOLDER: Final = "/in-place-of-a-tenant/"


@dataclass(frozen=True, slots=True)
class _ErrorResponse:
    """An error view: the status, OAuth's error code and the texts of the page."""

    status: int
    error_code: str
    title: Promise
    message: Promise
    next_step: Promise

    def __call__(
        self, request: HttpRequest, exception: object = None, *, reason: str = "", **values: str
    ) -> HttpResponse:
        """Return the response in the format of the path. The message can contain ``values``."""
        title = str(self.title)
        if request.path_info.startswith(areas.API):
            is_unknown = isinstance(exception, Resolver404)
            return plain_refusal(self.status, _no_endpoint(request) if is_unknown else title.lower())
        if request.path_info.startswith(areas.OAUTH):
            return oauth_error(self.error_code, f"{title}.", status=self.status)
        message, next_step = str(self.message), str(self.next_step)
        if values:
            message %= values
        return error_page(request, self.status, title=title, message=capfirst(message), next_step=next_step)


_bad_request: Final = _ErrorResponse(
    400, "invalid_request", _("We could not read this request"),
    _("Your browser sent something we couldn't read."), _("Go back and try again."),
)  # fmt: skip
forbidden: Final = _ErrorResponse(
    403, "invalid_request", _("This is not allowed"),
    _("You don't have access to this page."), _("Go back to where you came from."),
)  # fmt: skip
csrf_failure: Final = _ErrorResponse(
    403, "invalid_request", _("This page was open for too long"),
    _("For your security, the form wasn't sent."),
    _("Go back, reload the page and try again. Your browser must accept cookies."),
)  # fmt: skip
_not_found: Final = _ErrorResponse(
    404, "invalid_request", _("There is nothing here"),
    _("The address may be wrong, or the page has been removed."),
    _("Check the address, or go back to the application you came from."),
)  # fmt: skip
wrong_method: Final = _ErrorResponse(
    405, "invalid_request", _("This address does not accept that request"),
    _("This page can't do what your browser asked for."),
    _("Go back to the application you came from."),
)  # fmt: skip
_too_large: Final = _ErrorResponse(
    413, "invalid_request", _("What you sent is too large"),
    _("the body is larger than %(size)s"), _("Send less."),
)  # fmt: skip
# On the operators' site: what to do about a large form, by the end of its path, else by its type.
_IMPORT: Final = "/do/import/"
_SEND_LESS: Final = {
    _IMPORT: _(
        "Go back and choose a smaller file. Import larger files of users with manage.py import_users."
    ),
    "multipart/form-data": _("Go back and choose a smaller file, or shorten the text."),
    "": _("Go back and shorten the text."),
}
_TOO_LARGE_FOR_SITE: Final = (
    _("What you sent is too large"), _("A form and its files can have %(size)s together."),
)  # fmt: skip
_SIGNED_OUT: Final = (
    _("You are signed out"), _("The form was not sent. Without a session, it can have %(size)s."),
    _("Sign in, and send the form again."),
)  # fmt: skip
_TOO_MANY_FIELDS: Final = _ErrorResponse(
    400, "invalid_request", _("The form has too many fields"),
    _("Nothing was saved. A form can have %(most)s fields."),
    _("Go back and select less, or use the management API."),
)  # fmt: skip
_failure: Final = _ErrorResponse(
    500, "server_error", _("Something went wrong on our side"),
    _("It's not your fault, and nothing is lost."),
    _("Try again. If it happens again, contact the people who run this service, with the reference below."),
)  # fmt: skip
_database_unavailable: Final = _ErrorResponse(
    503, "temporarily_unavailable", _("We will be right back"),
    _("The service can't reach its database right now."), _("Wait a few seconds and try again."),
)  # fmt: skip


def not_found(request: HttpRequest, exception: object = None) -> HttpResponse:
    """Return 404. The page of the operators' site links to its start."""
    if not areas.is_of_site(request.path_info):
        return _not_found(request, exception)
    return error_page(
        request,
        _not_found.status,
        title=str(_not_found.title),
        message=str(_not_found.message),
        next_step=gettext("Check the address, or look for the page in the console."),
        link=Link(reverse("admin:index"), gettext("Go to the console")),
    )


def bad_request(request: HttpRequest, exception: object = None) -> HttpResponse:
    """Return 400. The page for a form of the operators' site with too many fields says so."""
    if isinstance(exception, TooManyFieldsSent) and areas.is_of_site(request.path_info):
        return _TOO_MANY_FIELDS(request, most=str(settings.DATA_UPLOAD_MAX_NUMBER_FIELDS))
    return _bad_request(request, exception)


def _no_endpoint(request: HttpRequest) -> str:
    """Return the message about a path below ``/api/`` that no route has."""
    return f"No such endpoint: {request.method} {escape_uri_path(request.path_info)}"[:_LONGEST_MESSAGE]


def server_error(request: HttpRequest) -> HttpResponse:
    """Return 503 with ``Retry-After`` for a temporary failure, and 500 otherwise."""
    if not _is_temporary(sys.exc_info()[1]):
        return _failure(request)
    response = _database_unavailable(request)
    response["Retry-After"] = _RETRY_AFTER
    return response


def load() -> None:
    """Load the files of a 503 response, so that a process that can open no file can still send the response.

    Without static files, the server starts, but no page can be rendered.
    """
    request: Any = HttpRequest()
    request.draft = SignInExperience(tenant=Tenant())  # so the brand is not read from the database
    try:
        _database_unavailable(request)
    except ValueError:
        _logger.warning("no page can be rendered: run manage.py collectstatic", exc_info=True)
    codecs.lookup("unicode_escape")  # Django uses it to log a response


def _is_temporary(failure: BaseException | None) -> bool:
    """Return whether the database is unavailable, or the process can open no file or start no thread."""
    if isinstance(failure, RuntimeError):
        return str(failure).startswith(_NO_THREAD)
    if isinstance(failure, OSError):
        return failure.errno in {errno.EMFILE, errno.ENFILE}
    return availability.is_unavailable(failure)


def too_large(request: HttpRequest, limit: int) -> HttpResponse:
    """Return 413 for a body that is larger than the limit of its path."""
    size = f"{limit // 1024} KiB"
    if request.path_info.startswith(areas.API):
        return plain_refusal(_too_large.status, f"the body is larger than {size}")
    if areas.is_of_site(request.path_info):
        return _too_large_for_site(request, size)
    return _too_large(request, size=size)


def _too_large_for_site(request: HttpRequest, size: str) -> HttpResponse:
    if settings.SESSION_COOKIE_NAME in request.COOKIES:
        title, message = _TOO_LARGE_FOR_SITE
        kind = _IMPORT if request.path_info.endswith(_IMPORT) else request.content_type
        next_step = _SEND_LESS.get(str(kind), _SEND_LESS[""])
    else:
        title, message, next_step = _SIGNED_OUT
    text = str(message) % {"size": size}
    return error_page(request, 413, title=str(title), message=text, next_step=str(next_step))


def overloaded(request: HttpRequest) -> HttpResponse:
    """Return 503 for a request for which no hashing place is free.

    The page is rendered once per language: an attacker can send many such requests, each for another tenant,
    and the tenant has not been looked up yet.
    """
    refusal = passwords.Busy()
    if request.path_info.startswith(areas.API):
        response = plain_refusal(refusal.status, refusal.message)
    else:
        page, cached_id = _render_overloaded(get_language())
        page = page.replace(cached_id, context.current().request_id)
        page = page.replace(_TENANT_PLACEHOLDER, get_script_prefix())
        response = HttpResponse(page, status=refusal.status)
        response["Cache-Control"] = "no-store"
    return add_headers(response, refusal.headers)


@cache
def _render_overloaded(language: str | None) -> tuple[str, str]:
    """Return the page with a placeholder for the tenant, and the request id that the page contains."""
    prefix = get_script_prefix()
    set_script_prefix(_TENANT_PLACEHOLDER)
    try:
        response = error_page(
            HttpRequest(),
            passwords.Busy.status,
            title=gettext("Many people are signing in right now"),
            message=gettext("It's not your fault, and nothing is lost."),
            next_step=gettext("Wait a few seconds and try again."),
        )
    finally:
        set_script_prefix(prefix)
    return response.text, context.current().request_id
