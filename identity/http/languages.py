"""Choosing a supported language from a list of language tags."""

from typing import Final

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation
from django.utils.cache import patch_vary_headers
from django.utils.translation.trans_real import parse_accept_lang_header

_MAX_LENGTH: Final = 256


def find_supported(tags: str) -> str | None:
    """Return the first supported language of a list, or None.

    OpenID Connect Core 3.1.2.1: the list has space-separated BCP 47 tags, ordered by preference. Tags that
    are not supported are ignored.
    """
    for tag in tags[:_MAX_LENGTH].split():
        try:
            return translation.get_supported_language_variant(tag.lower())
        except LookupError:
            continue
    return None


def find_accepted(request: HttpRequest) -> str:
    """Return the supported language that the browser prefers by ``Accept-Language``, else English.

    Unlike Django's function, it does not read the cookie, which has the language of a user's pages.
    """
    for tag, _ in parse_accept_lang_header(request.META.get("HTTP_ACCEPT_LANGUAGE", "")):
        if language := find_supported(tag):
            return language
    return settings.LANGUAGE_CODE


def name_language(response: HttpResponseBase) -> None:
    """Add the active language to the headers of a page, unless the page names one."""
    if response.get("Content-Type", "").startswith("text/html") and "Content-Language" not in response:
        response["Content-Language"] = translation.get_language() or settings.LANGUAGE_CODE
        patch_vary_headers(response, ("Accept-Language", "Cookie"))
