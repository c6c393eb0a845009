"""Answers of pages: redirects, and what a person sees whose sign-in is gone."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from identity.http.error_page import error_page

View = Callable[..., HttpResponse]


def redirect(location: str) -> HttpResponse:
    """Send the browser on, to any scheme that was registered. 303: never with the method POST.

    RFC 9700 section 4.12: a 307 would hand the credentials of a form to the next site.
    """
    response = HttpResponse(status=303)
    response["Location"] = location
    response["Cache-Control"] = "no-store"
    return response


def allow_form_targets(response: HttpResponse, targets: tuple[str, ...]) -> None:
    """Let the page's forms redirect to these origins besides https (CSP ``form-action``)."""
    response.form_targets = targets  # type: ignore[attr-defined]  # config.headers reads it


def gone(request: HttpRequest) -> HttpResponse:
    """Return the page for a sign-in that has expired or belongs to another browser."""
    return error_page(
        request,
        400,
        title=_("This sign-in has expired"),
        message=_("It was finished, waited too long, or was started in another browser."),
        next_step=_("Go back to the application and sign in again."),
    )


def survives_deletion(view: View) -> View:
    """Tell the person to start again when application, user or session vanish at this very moment."""

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except IntegrityError:
            return gone(request)

    return wrapped
