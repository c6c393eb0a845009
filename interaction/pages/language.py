"""The language of responses, and the cookie that stores the user's choice."""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import translation

from identity.http import areas
from identity.http.languages import find_accepted, name_language
from interaction.journeys import languages

_ENGLISH: Final = (areas.API, *areas.OAUTH)
_SECONDS: Final = 365 * 24 * 3600
_REGION_LENGTH: Final = 2  # a script has four letters


def get_tag(language: str) -> str:
    """Return the BCP 47 tag of a Django language code, for example zh-Hans for zh-hans, pt-BR for pt-br."""
    primary, _, subtag = language.partition("-")
    if not subtag:
        return primary
    return f"{primary}-{subtag.upper() if len(subtag) == _REGION_LENGTH else subtag.title()}"


def remember(response: HttpResponse, language: str) -> None:
    """Store the user's choice of a language in a cookie."""
    response.set_cookie(
        settings.LANGUAGE_COOKIE_NAME,
        language,
        max_age=_SECONDS,
        secure=settings.BASE_URL.startswith("https:"),
        httponly=True,
        samesite="Lax",
    )


def find_language(request: HttpRequest) -> str | None:
    """Return the language of the response to a request, or None if it is in English by its path."""
    if request.path_info.startswith(_ENGLISH):
        return None
    is_of_site = areas.is_of_site(request.path_info)
    return find_accepted(request) if is_of_site else languages.get_browser_language(request)


class LanguageMiddleware:
    """Activates the language of ``ui_locales``, else of the cookie, else of ``Accept-Language``.

    Responses of the APIs are in English: developers read them, and ``error_description`` must be ASCII
    (RFC 6749 section 5.2). On the operators' site, which has no parameter and no cookie for it, the language
    is that of ``Accept-Language`` until its own middleware knows the administrator.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Return the response in the activated language."""
        language = find_language(request)
        if language is None:
            return self.get_response(request)
        with translation.override(language):
            response = self.get_response(request)
            name_language(response)
        return response
