"""Where the HTML of a message may contain its code.

Nothing in a message may tell another server the code before its reader follows a link.
"""

import re
from typing import Final

from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers

_CODE: Final = "{code}"
_NAME: Final = "{name}"
# As the tokenizer of the HTML standard reads them: white space is these characters, and letters are ASCII.
# A quote is one only after "=", and an attribute's name may begin with "=". All repetitions are possessive,
# so that the time is linear.
_SPACE: Final = r"\t\n\f\r "
_ATTRIBUTE_NAME: Final = rf"=?[^{_SPACE}/>=]*+"
_VALUE: Final = rf"""(?:"[^"]*+"?|'[^']*+'?|[^{_SPACE}>]*+)"""
_EQUALS: Final = rf"[{_SPACE}]*+=[{_SPACE}]*+"
_ATTRIBUTES: Final = rf"(?:[{_SPACE}/]++|(?!>){_ATTRIBUTE_NAME}(?:{_EQUALS}{_VALUE})?+)*+"
_FLAGS: Final = re.ASCII | re.DOTALL | re.IGNORECASE
_TAG: Final = re.compile(
    r"<!--(?:-?>|(?:(?!--!?>).)*+)"  # a comment, which some programs for mail render
    rf"|<(?:[!?{{]|/(?![a-z]))[^>]*+"  # after "<", a placeholder could be the name of an element
    rf"|</?[a-z][^{_SPACE}/>]*+{_ATTRIBUTES}",
    _FLAGS,
)
_LINK: Final = re.compile(rf"<a(?=[{_SPACE}/])", _FLAGS)
_ELEMENT: Final = re.compile(rf"</?[a-z][^{_SPACE}/>]*+", _FLAGS)
_ATTRIBUTE: Final = re.compile(rf"[{_SPACE}/]*+(?!>)({_ATTRIBUTE_NAME})(?:{_EQUALS}({_VALUE}))?+", _FLAGS)
# Style sheets read the address of a link, and load pictures by it. Programs for mail read the content of the
# others in other ways than the text around them.
_REFUSED: Final = re.compile(
    r"<(iframe|link|math|noembed|noframes|noscript|plaintext|script|style|svg|template|textarea|xmp)"
    rf"(?=[{_SPACE}/>])",
    _FLAGS,
)
# The content of a title is text until its end tag. In other places than this, it could be read as tags.
_BAD_TITLE: Final = re.compile(rf"<title(?=[{_SPACE}/>])(?!>[^<]*+</title[{_SPACE}]*+>)", _FLAGS)
# A code in the name of a host would reach a name server when a program for mail looks the host up in advance.
_AFTER_HOST: Final = re.compile(
    rf"""["']?[a-z][a-z0-9+.-]*+:/*+[^{_SPACE}\0-\x1f/\\?#&{{}}<>"']++[/?#]""", _FLAGS
)
# CSS that can read the address of its own link, also with escapes and with a tenant's name that is such CSS.
_READING_STYLE: Final = re.compile(r"attr|\\|&#|[{}]", _FLAGS)


def check(html: str) -> None:
    """Check that tags contain the code only in the addresses of links, and that nothing else can read it.

    The address of a picture, for example, would tell its server the code as soon as the message is opened.

    Raises:
        serializers.ValidationError: the code is elsewhere too, or could be read there.

    """
    if _CODE not in html:
        return
    if refused := _REFUSED.search(html):
        text = gettext("must not contain the element %(element)s if it contains {code}")
        raise serializers.ValidationError(text % {"element": f"<{refused[1].lower()}>"})
    tags = [found[0] for found in _TAG.finditer(html)]
    if _BAD_TITLE.search(html) or any(_has_hidden_code(tag) for tag in tags):
        raise serializers.ValidationError(
            gettext_noop("may contain {code} only in the text and in the href of a link")
        )
    if any(_has_bare_name(tag) for tag in tags):
        raise serializers.ValidationError(
            gettext_noop("may contain {name} only in the text and in quoted values of attributes")
        )
    for tag in tags:
        if _CODE in tag:
            _check_link(tag)


def _get_attributes(tag: str) -> list[tuple[str, str]]:
    """Return the names, in lower case, and the values of a tag's attributes, with their quotes."""
    element = _ELEMENT.match(tag)
    if element is None:
        return []
    found: list[tuple[str, str]] = _ATTRIBUTE.findall(tag, element.end())
    return [(name.lower(), value) for name, value in found]


def _has_hidden_code(tag: str) -> bool:
    seen = 0
    if _LINK.match(tag):
        for name, value in _get_attributes(tag):
            if name == "href" and not re.search("[<>]", value):
                seen += value.count(_CODE)
    return tag.count(_CODE) > seen


def _has_bare_name(tag: str) -> bool:
    """Return whether a tag has the tenant's name where it could add an attribute, or end a quoted value."""
    quoted = sum(value.count(_NAME) for _, value in _get_attributes(tag) if value.startswith(('"', "'")))
    return tag.count(_NAME) > quoted


def _check_link(tag: str) -> None:
    for name, value in _get_attributes(tag):
        if name == "href" and _CODE in value and not _AFTER_HOST.match(value):
            raise serializers.ValidationError(
                gettext_noop(
                    "must name a host before {code} in the href of a link: https://app.example/?code={code}"
                )
            )
        if name == "style" and _READING_STYLE.search(value):
            raise serializers.ValidationError(
                gettext_noop(
                    "must not have attr, a backslash, &# or a brace in the style of a link with {code}"
                )
            )
