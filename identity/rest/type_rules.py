"""The rules about JSON types that REST framework states in the words of Python."""

from typing import Final

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

INVALID_TYPE: Final = "invalid_type"
_OBJECT: Final = ErrorDetail("must be an object", INVALID_TYPE)
_RULES: Final = {"not_a_list": ErrorDetail("must be a list", INVALID_TYPE), "not_a_dict": _OBJECT}


def restate(detail: ErrorDetail) -> ErrorDetail:
    """Return an error with its rule in the words of JSON."""
    if _is_about_an_object(detail):
        return _OBJECT
    return _RULES.get(str(detail.code), detail)


def _is_about_an_object(detail: ErrorDetail) -> bool:
    """Return whether a serializer got something else than an object. Other errors have the same code."""
    text, _, _ = str(serializers.Serializer.default_error_messages["invalid"]).partition("{")
    return detail.code == "invalid" and detail.startswith(text)
