"""Which language a person is spoken to in."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers

PARAMETER: Final = "ui_locales"
_MACHINES: Final = ("/api/", "/.well-known/", "/oidc/token", "/oidc/revoke", "/oidc/userinfo")
_SECONDS: Final = 365 * 24 * 3600
_LONGEST: Final = 256


def best_of(tags: str) -> str | None:
    """Return the first language of a list that we speak, or None.

    OpenID Connect Core 3.1.2.1: space-separated BCP 47 tags, ordered by preference; one that
    is not supported is no error.
    """
    for tag in tags[:_LONGEST].split():
        try:
            return translation.get_supported_language_variant(tag.lower())
        except LookupError:
            continue
    return None


def speak(tags: str) -> None:
    """Speak the first language of a list that we know, from here to the end of the request."""
    if language := best_of(tags):
        translation.activate(language)


def tag_of(language: str) -> str:
    """Return the BCP 47 tag of one of Django's language codes: zh-hans is zh-Hans."""
    primary, _, script = language.partition("-")
    return f"{primary}-{script.title()}" if script else primary


def chosen_on(request: HttpRequest) -> str | None:
    """Return the language that a person chose with a link of our page."""
    return best_of(request.GET.get(PARAMETER, ""))


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
    holds ASCII only (RFC 6749 section 5.2).
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer in the right language."""
        if request.path_info.startswith(_MACHINES):
            return self.get_response(request)
        with translation.override(_asked_for(request)):
            response = self.get_response(request)
            if response.get("Content-Type", "").startswith("text/html"):
                response["Content-Language"] = translation.get_language() or settings.LANGUAGE_CODE
                patch_vary_headers(response, ("Accept-Language", "Cookie"))
        return response


def _asked_for(request: HttpRequest) -> str:
    # Django reads the cookie, then the header.
    return chosen_on(request) or translation.get_language_from_request(request)
