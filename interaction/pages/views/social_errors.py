"""The error pages of signing in with another provider."""

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from identity.core.errors import ServiceError
from identity.http.error_page import Link, error_page
from identity.http.responses import add_headers

_MESSAGES: Final = {
    "declined": (
        gettext_lazy("Sign-in canceled"),
        gettext_lazy("You didn't finish at the other service. Try again, or choose another way."),
    ),
    "provider_failed": (
        gettext_lazy("Something went wrong"),
        gettext_lazy("The other service didn't tell us who you are. Try again, or choose another way."),
    ),
    "not_asked_again": (
        gettext_lazy("Sign in again"),
        gettext_lazy("The other service didn't confirm that you just signed in. Choose another way."),
    ),
    "not_offered": (
        gettext_lazy("This way to sign in is not available"),
        gettext_lazy("It may have been turned off. Choose another way."),
    ),
    "no_account": (
        gettext_lazy("You don't have an account here"),
        gettext_lazy(
            "Ask the people who run this service for one. If you already have one, sign in another way."
        ),
    ),
    "account_exists": (
        gettext_lazy("You already have an account here"),
        gettext_lazy(
            "An account already uses your email address. Sign in to it another way. "
            "Then you can connect the other service on your account page."
        ),
    ),
    "linked_elsewhere": (
        gettext_lazy("This account is already connected to another user"),
        gettext_lazy("Disconnect it there first, or connect another account."),
    ),
    "too_many_linked_accounts": (
        gettext_lazy("You have too many connected accounts"),
        gettext_lazy("You can connect at most 50 accounts. Disconnect one first."),
    ),
    "suspended": (
        gettext_lazy("Your account is suspended"),
        gettext_lazy("Contact the people who run this service."),
    ),
    "rate_limited": (
        gettext_lazy("Too many sign-ins from your network"),
        gettext_lazy("Wait a few minutes and try again."),
    ),
    "overloaded": (
        gettext_lazy("Many people are signing in right now"),
        gettext_lazy("Wait a few seconds and try again."),
    ),
}


def refuse(request: HttpRequest, error: ServiceError, back: str) -> HttpResponse:
    """Return the page of a refused sign-in. ``back`` is the URL of its link."""
    title, message = _MESSAGES.get(error.reason, _MESSAGES["provider_failed"])
    response = error_page(
        request,
        error.status,
        title=str(title),
        message=str(message),
        next_step="",
        link=Link(back, _("Go back")),
    )
    return add_headers(response, error.headers)
