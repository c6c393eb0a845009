"""Which of the languages that a client lists we speak."""

from typing import Final

from django.utils import translation

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
