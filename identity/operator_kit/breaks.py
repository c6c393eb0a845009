"""Line breaks within long names and addresses."""

import re
from typing import Final

from django.utils.html import format_html_join
from django.utils.safestring import SafeString

_MIN_LENGTH: Final = 24  # shorter texts fit into their columns
_AFTER: Final = re.compile("(?<=@)")


def break_after_at(text: str) -> SafeString:
    """Return a text as HTML that a narrow column breaks after an @, rather than within a word."""
    parts = _AFTER.split(text) if len(text) > _MIN_LENGTH else [text]
    return format_html_join(SafeString("<wbr>"), "{}", ((part,) for part in parts))
