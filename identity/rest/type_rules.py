"""Errors of REST framework in the terms of JSON."""

from typing import Final

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

INVALID_TYPE: Final = "invalid_type"
_OBJECT: Final = ("must be an object", INVALID_TYPE)
# For a code of REST framework, the message and the code. None keeps the message.
_TERMS: Final[dict[str, tuple[str | None, str]]] = {
    "not_a_list": ("must be a list", INVALID_TYPE),
    "not_a_dict": _OBJECT,
    "empty": (None, "blank"),
    "max_string_length": (None, "max_value"),
}


def to_json_terms(detail: ErrorDetail) -> ErrorDetail:
    """Return an error whose message and code use the terms of JSON; other errors unchanged."""
    same = (None, str(detail.code))
    message, code = _OBJECT if _is_about_an_object(detail) else _TERMS.get(str(detail.code), same)
    return ErrorDetail(message or str(detail), code)


def _is_about_an_object(detail: ErrorDetail) -> bool:
    """Return whether a serializer got something else than an object. Other errors have the same code."""
    text, _, _ = str(serializers.Serializer.default_error_messages["invalid"]).partition("{")
    return detail.code == "invalid" and detail.startswith(text)
