"""Badges: a word in a colour, instead of a symbol."""

from typing import Final

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from identity.operator_kit.texts import Text

GOOD: Final = "good"
WARNING: Final = "warning"
BAD: Final = "bad"
QUIET: Final = "quiet"


def badge(text: Text, colour: str) -> SafeString:
    return format_html('<span class="badge {}">{}</span>', colour, text)


def yes_or_no(*, value: bool) -> SafeString:
    return badge(gettext("Yes"), GOOD) if value else badge(gettext("No"), QUIET)


def verified(*, value: bool) -> SafeString:
    return badge(gettext("Verified"), GOOD) if value else badge(gettext("Unverified"), WARNING)
