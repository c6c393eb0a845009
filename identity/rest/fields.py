"""Serializer fields that all APIs share."""

import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final

import orjson
from django.utils.translation import gettext_noop
from rest_framework import serializers

from identity.core.algorithms import Algorithm

_MAX_OBJECT_BYTES: Final = 64 * 1024
_FLOAT_LIMIT: Final = 2.0**63  # PostgreSQL returns larger floats as integers, which orjson cannot write
# A later time could be one that some time zones do not have.
MAX_DAYS_AHEAD: Final = 36_500
_LINE_BREAKS: Final = {"\t", "\n", "\r"}


def timestamp(value: datetime) -> str:
    """Return a timestamp as text: UTC with milliseconds and ``Z``."""
    return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Timestamp(serializers.DateTimeField):
    """A timestamp in a response."""

    def to_representation(self, value: datetime) -> str:
        """Return the timestamp as text; see ``timestamp``."""
        return timestamp(value)


class FutureTime(serializers.DateTimeField):
    """A time in the future, at most ``MAX_DAYS_AHEAD``, in ISO 8601. Without an offset it is UTC.

    ``null`` means never.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, **options})

    def to_internal_value(self, value: Any) -> datetime:
        if not isinstance(value, str):
            raise serializers.ValidationError(
                gettext_noop("must be a time in ISO 8601, such as 2030-01-31T12:00:00Z")
            )
        try:
            time: datetime = super().to_internal_value(value)
        except (serializers.ValidationError, OverflowError):
            raise serializers.ValidationError(
                gettext_noop("must be a time in ISO 8601, such as 2030-01-31T12:00:00Z")
            ) from None
        now = datetime.now(UTC)
        if time <= now:
            raise serializers.ValidationError(gettext_noop("must be in the future"))
        if time > now + timedelta(days=MAX_DAYS_AHEAD):
            raise serializers.ValidationError(gettext_noop("must be at most 36,500 days from now"))
        return time


class Flag(serializers.BooleanField):
    """A JSON boolean. Other values, such as ``1`` or ``"true"``, are refused."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError(gettext_noop("must be true or false"), code="invalid_type")
        return data


class ClearableFlag(Flag):
    """A JSON boolean, or ``null`` for false."""

    clearable: ClassVar[bool] = True

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "allow_null": True, **options})

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Return false for ``null``."""
        return (True, False) if data is None else super().validate_empty_values(data)


class FlagText(serializers.BooleanField):
    """A boolean in the query string: ``true`` or ``false``."""

    def to_internal_value(self, data: Any) -> bool:
        if data not in {"true", "false"}:
            raise serializers.ValidationError(gettext_noop("must be true or false"))
        return bool(data == "true")


class WholeNumber(serializers.IntegerField):
    """A JSON integer. Strings and booleans are refused."""

    def to_internal_value(self, data: Any) -> int:
        if not isinstance(data, int) or isinstance(data, bool):
            raise serializers.ValidationError(gettext_noop("must be a whole number"), code="invalid_type")
        return super().to_internal_value(data)


class Text(serializers.CharField):
    """A JSON string. Numbers are refused, which REST framework would convert."""

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError(gettext_noop("must be a string"), code="invalid_type")
        return super().to_internal_value(data)


class Line(Text):
    """One line of text without control characters. ``null`` means an empty string if the field may be blank.

    ``pattern`` describes the check in the OpenAPI schema.
    """

    allowed: ClassVar[set[str]] = set()
    pattern: ClassVar[str] = r"^[^\u0000-\u001f\u007f-\u009f]*$"

    def __init__(self, **options: Any) -> None:
        options.setdefault("max_length", 256)
        options.setdefault("trim_whitespace", False)
        self.clearable = options.get("allow_blank", False) and not options.get("allow_null", False)
        if self.clearable:
            options["allow_null"] = True
        super().__init__(**options)

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if any(unicodedata.category(c) == "Cc" and c not in self.allowed for c in text):
            raise serializers.ValidationError(gettext_noop("must not contain control characters"))
        return text

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Return an empty string for ``null`` if the field may be blank."""
        if data is None and self.clearable:
            return True, ""
        return super().validate_empty_values(data)


class Name(Line):
    """A name, which has at least one character that is not white space."""

    pattern = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$"

    def to_internal_value(self, data: Any) -> str:
        name = super().to_internal_value(data)
        if not name.strip():
            raise serializers.ValidationError(gettext_noop("must not be blank"), code="blank")
        return name


class Description(Line):
    """A text that may have tabs and line breaks."""

    allowed = _LINE_BREAKS
    pattern = r"^[^\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]*$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 1024, "required": False, "allow_blank": True, **options})


class Url(Line):
    """An ``https`` URL for browsers. The server never fetches it."""

    pattern = r"^(https://[^\s\"'<>\\\u0000-\u001f\u007f-\u009f]*)?$"

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"max_length": 2048, "required": False, "allow_blank": True, **options})

    def to_internal_value(self, data: Any) -> str:
        url = super().to_internal_value(data)
        if url and not url.startswith("https://"):
            raise serializers.ValidationError(gettext_noop("must be an https URL"))
        if any(c.isspace() or c in "\"'<>\\" for c in url):
            raise serializers.ValidationError(gettext_noop("must be an https URL"))
        return url


class SigningAlgorithm(serializers.ChoiceField):
    """The name of a signature algorithm. An empty string or ``null`` means the tenant's default."""

    def __init__(self, **options: Any) -> None:
        options = {"choices": Algorithm.choices, "required": False, "allow_blank": True, **options}
        super().__init__(**{"allow_null": True, **options})
        self.clearable = True

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str) or (data and data not in Algorithm.values):
            rule = f"must be one of {', '.join(Algorithm.values)}"
            raise serializers.ValidationError(rule, code="invalid_choice")
        return data

    def validate_empty_values(self, data: Any) -> tuple[bool, Any]:
        """Return an empty string for ``null``."""
        return (True, "") if data is None else super().validate_empty_values(data)


class JSONObject(serializers.DictField):
    """A JSON object of at most 64 KiB, with numbers that all databases and clients preserve."""

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        value: dict[str, Any] = super().to_internal_value(data)
        if len(orjson.dumps(value)) > _MAX_OBJECT_BYTES:
            raise serializers.ValidationError(gettext_noop("must have at most 64 KiB of JSON"))
        refuse_huge_numbers(value)
        return value


def refuse_huge_numbers(value: object) -> None:
    """Refuse a JSON value with a number that a database would return as another one.

    Raises:
        serializers.ValidationError: a floating-point number at any depth is too large.

    """
    if any(abs(number) >= _FLOAT_LIMIT for number in _floats(value)):
        raise serializers.ValidationError(gettext_noop("must not hold numbers of more than 63 bits"))


def _floats(value: object) -> Iterator[float]:
    """Return the floating-point numbers at any depth of a value."""
    remaining = [value]
    while remaining:
        part = remaining.pop()
        if isinstance(part, dict):
            remaining.extend(part.values())
        elif isinstance(part, list):
            remaining.extend(part)
        elif isinstance(part, float):
            yield part


_MAX_ID_LENGTH: Final = 64


class Ids(serializers.ListField):
    """A list of ids. Most long lists are valid, so a fast check of all items comes first."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"child": Line(max_length=_MAX_ID_LENGTH), "max_length": 10_000, **options})

    def run_child_validation(self, data: Any) -> list[Any]:
        """Return the items. They are checked one by one only if the fast check fails."""
        if all(type(item) is str and item.isprintable() and 0 < len(item) <= _MAX_ID_LENGTH for item in data):
            return list(data)
        checked: list[Any] = super().run_child_validation(data)
        return checked
