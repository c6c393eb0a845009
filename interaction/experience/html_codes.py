"""Where the HTML of a message may contain its code."""

import re
from typing import Final

from django.utils.translation import gettext_noop
from rest_framework import serializers

_CODE: Final = "{code}"
# Comments, which some programs for mail render; styles; and tags. Possessive, so that the time is linear.
_UNSEEN: Final = re.compile(
    r"""<!--(?:(?!-->).)*+|<(style|script)\b(?:(?!</\1).)*+"""
    r"""|<[a-z!?/](?:[^"'>]|"[^"]*+(?:"|\Z)|'[^']*+(?:'|\Z))*+""",
    re.IGNORECASE | re.DOTALL,
)
_LINK: Final = re.compile(r"<a\s", re.IGNORECASE)
_HREF: Final = re.compile(r"""\shref\s*=\s*(?:"[^"]*"|'[^']*')""", re.IGNORECASE)


def check(html: str) -> None:
    """Check that tags contain the code only in the addresses of links.

    The address of a picture, for example, would tell its server the code as soon as the message is opened.

    Raises:
        serializers.ValidationError: the code is elsewhere too.

    """
    if _CODE in html and any(_has_hidden_code(found[0]) for found in _UNSEEN.finditer(html)):
        raise serializers.ValidationError(
            gettext_noop("may contain {code} only in the text and in the href of a link")
        )


def _has_hidden_code(tag: str) -> bool:
    return _CODE in (_HREF.sub("", tag) if _LINK.match(tag) else tag)
