"""Where the HTML of a message may contain its code."""

import re
from typing import Final

from django.utils.translation import gettext_noop
from rest_framework import serializers

_CODE: Final = "{code}"
# As the tokenizer of the HTML standard reads them: a quote is one only after "=", and an attribute's name may
# begin with "=". All repetitions are possessive, so that the time is linear.
_NAME: Final = r"=?[^\s/>=]*+"
_VALUE: Final = r"""(?:"[^"]*+"?|'[^']*+'?|[^\s>]*+)"""
_ATTRIBUTES: Final = rf"(?:[\s/]++|(?!>){_NAME}(?:\s*+=\s*+{_VALUE})?+)*+"
_HIDDEN: Final = re.compile(
    r"<!--(?:-?>|(?:(?!--!?>).)*+)"  # a comment, which some programs for mail render
    r"|<(?:[!?]|/(?![a-z]))[^>]*+"
    rf"|<style(?=[\s/>]){_ATTRIBUTES}(?:(?!</style[\s/>]).)*+"
    rf"|</?[a-z][^\s/>]*+{_ATTRIBUTES}",
    re.IGNORECASE | re.DOTALL,
)
_LINK: Final = re.compile(r"<a(?=[\s/])", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(rf"[\s/]*+(?!>)({_NAME})(?:\s*+=\s*+({_VALUE}))?+")
# Programs for mail read the content of these in other ways than the text around them.
_REFUSED: Final = re.compile(
    r"<(?:iframe|math|no(?:embed|frames|script)|plaintext|script|svg|template|textarea|xmp)(?=[\s/>])"
    r"|<title(?=[\s/>])[^<]*+<(?!/title[\s/>])",
    re.IGNORECASE,
)


def check(html: str) -> None:
    """Check that tags contain the code only in the addresses of links.

    The address of a picture, for example, would tell its server the code as soon as the message is opened.

    Raises:
        serializers.ValidationError: the code is elsewhere too.

    """
    if _CODE not in html:
        return
    if _REFUSED.search(html) or any(_has_hidden_code(found[0]) for found in _HIDDEN.finditer(html)):
        raise serializers.ValidationError(
            gettext_noop("may contain {code} only in the text and in the href of a link")
        )


def _has_hidden_code(tag: str) -> bool:
    seen = 0
    if (link := _LINK.match(tag)) is not None:
        for name, value in _ATTRIBUTE.findall(tag, link.end()):
            if name.lower() == "href" and not re.search("[<>]", value):
                seen += value.count(_CODE)
    return tag.count(_CODE) > seen
