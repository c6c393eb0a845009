"""Badges: a word in a colour, instead of a symbol."""

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString

GOOD: Final = "good"
WARNING: Final = "warning"
BAD: Final = "bad"
QUIET: Final = "quiet"


def badge(text: str, colour: str) -> SafeString:
    return format_html('<span class="badge {}">{}</span>', colour, text)


def yes_or_no(*, value: bool) -> SafeString:
    return badge("Yes", GOOD) if value else badge("No", QUIET)


def verified(*, value: bool) -> SafeString:
    return badge("Verified", GOOD) if value else badge("Unverified", WARNING)
