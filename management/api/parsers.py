"""Reading JSON strictly: what could be read in two ways is refused."""

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import IO, Any, Final

import orjson
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser

_DEEPEST: Final = 32
_SHOWN: Final = 64  # characters of a name that an answer repeats
_MOST_VALUES: Final = 50_000
_SPACE: Final = b" \t\r\n"
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


class TooLarge(APIException):
    """The body is larger than anything the API takes."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "the body is larger than 1 MiB"


class StrictJSONParser(BaseParser):
    """UTF-8 JSON objects (RFC 8259): no NaN, no lone surrogates, no NUL, not too deep, no name twice.

    The bytes are parsed once. Commas, brackets and colons outside of strings tell how many values and
    names there are, before and after.
    """

    media_type = "application/json"

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the object.

        Raises:
            ParseError: it is not JSON, not an object, too deep, holds too many values, a NUL or a name twice.
            TooLarge: it is longer than ``DATA_UPLOAD_MAX_MEMORY_SIZE``.

        """
        body = _read(stream)
        if _beginnings(body) > _MOST_VALUES and _values(body) > _MOST_VALUES:
            raise ParseError(f"the body must hold at most {_MOST_VALUES:,} values")
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise ParseError("the body must be valid JSON in UTF-8") from None
        if not isinstance(document, dict):
            raise ParseError("the body must be a JSON object")
        names = check(document)
        if body.count(b":") > names and _without_strings(body).count(b":") > names:
            _refuse_a_name_twice(body)
        return document


def _beginnings(body: bytes) -> int:
    """Return the number of values at most: each is the whole, follows a comma or comes first in one."""
    return 1 + body.count(b",") + body.count(b"[") + body.count(b"{")


def _values(body: bytes) -> int:
    """Return the number of values, exactly where the body is JSON."""
    bare = _without_strings(body.translate(None, _SPACE))
    return _beginnings(bare) - bare.count(b"[]") - bare.count(b"{}")


def _without_strings(body: bytes) -> bytes:
    return _STRING.sub(b"", body)


def _read(stream: IO[Any]) -> bytes:
    length = getattr(stream, "META", {}).get("CONTENT_LENGTH") or 0
    if int(length) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise TooLarge
    try:
        body: bytes = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    except RequestDataTooBig:
        raise TooLarge from None
    return body


def check(document: dict[str, Any]) -> int:
    """Make sure that every database can keep what an object holds, and return how many names it holds.

    Raises:
        ParseError: it holds a NUL or is too deep; the message names the field.

    """
    if any("\0" in name for name in document):
        raise ParseError("the names of fields must not hold a NUL character")
    names = len(document)
    waiting: list[tuple[str, object, int]] = [(name, value, 2) for name, value in document.items()]
    while waiting:
        field, value, depth = waiting.pop()
        if isinstance(value, str):
            if "\0" in value:
                raise ParseError(f"{field[:_SHOWN]}: must not hold a NUL character")
        elif isinstance(value, dict | list):
            if depth > _DEEPEST:
                raise ParseError(f"{field[:_SHOWN]}: is nested deeper than {_DEEPEST} levels")
            if isinstance(value, dict):
                names += len(value)
                waiting.extend((field, name, depth) for name in value)
                value = value.values()
            waiting.extend((field, item, depth + 1) for item in value)
    return names


def _refuse_a_name_twice(body: bytes) -> None:
    """Refuse a name that comes twice in an object: others may read the first, we the last.

    The body is parsed again to find the name, which the refusal says.
    """
    json.loads(body, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        twice, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise ParseError(f"{twice[:_SHOWN]}: comes more than once")
    return names
