"""Responses that several pages share, and what a response tells the middleware of the security headers."""

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any, Final

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from database.constraints import is_foreign_key_violation
from identity.http.error_page import Link, error_page

LONGEST_URL: Final = 8_000  # characters that every server accepts in a request line (RFC 9112 section 3)
View = Callable[..., HttpResponse]


def redirect(location: str) -> HttpResponse:
    """Return a redirect (303) to a URL of any scheme. The browser follows it with GET.

    RFC 9700 section 4.12: with 307 the browser would send the credentials of a form to the next site.
    """
    response = HttpResponse(status=303)
    response["Location"] = location
    response["Cache-Control"] = "no-store"
    return response


def add_headers(response: HttpResponse, headers: Mapping[str, str]) -> HttpResponse:
    """Add headers, such as those of an error, to a response, and return the response."""
    for name, value in headers.items():
        response[name] = value
    return response


def allow_form_targets(response: HttpResponse, targets: tuple[str, ...]) -> None:
    """Allow the page's forms to redirect to these origins besides https (CSP ``form-action``)."""
    response.form_targets = targets  # type: ignore[attr-defined]  # config.headers reads it


def allow_only_form_target(response: HttpResponse, source: str) -> None:
    """Allow the page's forms to lead to this source only (CSP ``form-action``)."""
    response.only_form_target = source  # type: ignore[attr-defined]  # config.headers reads it


def allow_frames(response: HttpResponse) -> None:
    """Let the page frame pages of this installation."""
    response.frames = True  # type: ignore[attr-defined]  # config.headers reads it


def allow_framing(response: HttpResponse) -> None:
    """Let pages of this installation frame the page. Then no script of the page runs, and no form is sent."""
    response.framed = True  # type: ignore[attr-defined]  # config.headers reads it


def allow_style_sheets(response: HttpResponse, texts: Sequence[str]) -> None:
    """Let the page have these inline style sheets and no other, not even from this installation."""
    response.style_sheets = texts  # type: ignore[attr-defined]  # config.headers reads it


def allow_widget(response: HttpResponse, sources: Sequence[str]) -> None:
    """Let the page have the scripts, styles and frames of a CAPTCHA, which come from these origins."""
    response.widget_sources = sources  # type: ignore[attr-defined]  # config.headers reads it


def sandbox(response: HttpResponse) -> None:
    """Forbid scripts and forms in a response that is no page, if a browser opens it as one."""
    response.sandboxed = True  # type: ignore[attr-defined]  # config.headers reads it


def expired_sign_in_page(request: HttpRequest, link: Link | None = None) -> HttpResponse:
    """Return the page for a sign-in that has expired or belongs to another browser."""
    return error_page(
        request,
        400,
        title=_("This sign-in has expired"),
        message=_("It is already finished, took too long, or was started in another browser."),
        next_step="" if link else _("Go back to the application and sign in again."),
        link=link,
    )


def handles_deletion(view: View) -> View:
    """Return ``expired_sign_in_page`` if the application, user or session is deleted while the view runs."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except IntegrityError as error:
            if not is_foreign_key_violation(error):
                raise
            return expired_sign_in_page(request)

    return wrapped
