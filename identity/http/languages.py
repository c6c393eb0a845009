"""Choosing a supported language from a list of language tags."""

from typing import Final

from django.utils import translation

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
