"""Answering in the language of the browser, and keeping the one that a person chose."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

from interaction.journeys import languages

_ENGLISH: Final = (
    "/api/",
    "/.well-known/",
    "/oidc/.well-known/",
    "/oidc/token",
    "/oidc/revoke",
    "/oidc/userinfo",
    "/admin",
)
_SECONDS: Final = 365 * 24 * 3600


def tag_of(language: str) -> str:
    """Return the BCP 47 tag of one of Django's language codes: zh-hans is zh-Hans."""
    primary, _, script = language.partition("-")
    return f"{primary}-{script.title()}" if script else primary


def remember(response: HttpResponse, language: str) -> None:
    """Keep the language that a person chose in their browser."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=_SECONDS,
        secure=settings.BASE_URL.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )


class LanguageMiddleware:
    """Speaks the language of ``ui_locales``, else of the cookie, else of ``Accept-Language``.

    Programs are spoken to in English: their developers read it, and an ``error_description``
    holds ASCII only (RFC 6749 section 5.2). So are operators.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in the right language."""
        if request.path_info.startswith(_ENGLISH):
            return self.get_response(request)
        with translation.override(languages.of_browser(request)):
            response = self.get_response(request)
            if response.get("Content-Type", "").startswith("text/html"):
                response["Content-Language"] = translation.get_language() or settings.LANGUAGE_CODE
                patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response
