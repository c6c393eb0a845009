"""A strict JSON parser: ambiguous bodies are refused."""

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

from identity.core import storable_json
from identity.core.errors import INVALID, FieldError
from identity.core.storable_json import QUOTED, NotStorable
from identity.http import bodies

_MAX_VALUES: Final = 50_000
_SPACE: Final = b" \t\r\n"
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)


class TooLarge(APIException):
    """The body is larger than the API accepts."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_detail = "the body is larger than 1 MiB"


class FieldRefused(ParseError):
    """A field cannot be read, so no serializer sees the body."""

    def __init__(self, field: str, rule: str, *, code: str = INVALID) -> None:
        self.field_errors = (FieldError(field, rule, code),)
        super().__init__(f"{field}: {rule}")


class StrictJSONParser(BaseParser):
    """Parses JSON objects in UTF-8 (RFC 8259).

    It refuses NaN, lone surrogates, NUL, deep nesting and repeated names. The body is parsed once: the
    commas, brackets and colons outside strings give the number of values and names.
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
            ParseError: the body is not a JSON object, is too deep, or has too many values, a NUL or a
                repeated name.
            TooLarge: the body is longer than ``DATA_UPLOAD_MAX_MEMORY_SIZE``.

        """
        body = _read(stream)
        if _most_values(body) > _MAX_VALUES and _count_values(body) > _MAX_VALUES:
            raise ParseError(f"the body must hold at most {_MAX_VALUES:,} values")
        try:
            document = orjson.loads(body)
        except orjson.JSONDecodeError:
            raise ParseError("the body must be valid JSON in UTF-8") from None
        if not isinstance(document, dict):
            raise ParseError("the body must be a JSON object")
        names = check(document)
        if body.count(b":") > names and _without_strings(body).count(b":") > names:
            _refuse_repeated_names(body)
        return document


def _most_values(body: bytes) -> int:
    """Return an upper bound of the number of values: the document, and one after each comma or bracket."""
    return 1 + body.count(b",") + body.count(b"[") + body.count(b"{")


def _count_values(body: bytes) -> int:
    """Return the number of values, which is exact if the body is valid JSON."""
    bare = _without_strings(body.translate(None, _SPACE))
    return _most_values(bare) - bare.count(b"[]") - bare.count(b"{}")


def _without_strings(body: bytes) -> bytes:
    return _STRING.sub(b"", body)


def _read(stream: IO[Any]) -> bytes:
    length = bodies.get_length(getattr(stream, "META", {}))
    if length is None or length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise TooLarge
    try:
        body: bytes = stream.read(settings.DATA_UPLOAD_MAX_MEMORY_SIZE + 1)
    except RequestDataTooBig:
        raise TooLarge from None
    return body


def check(document: dict[str, Any]) -> int:
    """Check that every database can store an object, and return the number of names in it.

    Raises:
        ParseError: the object holds a NUL or is too deep. The message names the field.

    """
    try:
        return storable_json.check(document)
    except NotStorable as error:
        if error.field:
            raise FieldRefused(error.field, error.rule) from None
        raise ParseError(error.rule) from None


def _refuse_repeated_names(body: bytes) -> None:
    """Refuse an object with a repeated name: another parser may use the first value, we use the last.

    The body is parsed again to find the name for the message.
    """
    json.loads(body, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    names = dict(pairs)
    if len(names) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise FieldRefused(repeated[:QUOTED], "occurs more than once", code="repeated")
    return names
