"""Readers of values that several systems have: flags, times, names, and usernames that are addresses."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from identity.core.errors import Invalid
from identity.users import identifiers
from identity.users.identifiers import Kind

_TRUE: Final = {"true", "t", "1", "yes"}
_FALSE: Final = {"false", "f", "0", "no", ""}
_MILLISECONDS: Final = 10**11  # a greater number is in milliseconds, not seconds


def text(value: Any) -> str:
    """Return a string unchanged, and an empty one for any other value."""
    return value if isinstance(value, str) else ""


def flag(name: str, value: Any) -> bool:
    """Read a boolean, from JSON or as databases write it to CSV.

    Raises:
        Invalid: the value is not a boolean.

    """
    if value is None or isinstance(value, bool):
        return bool(value)
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise Invalid(name, "must be true or false")
    return word in _TRUE


def moment(value: Any) -> datetime | None:
    """Read a time: ISO 8601, or seconds or milliseconds since 1970. Without a time zone it is UTC.

    Raises:
        Invalid: the value is not a time, or is in the future.

    """
    if value in (None, ""):
        return None
    try:
        read = _moment(value)
    except (ValueError, OverflowError, OSError):
        raise Invalid("created_at", "must be a time, in ISO 8601 or in seconds since 1970") from None
    read = read if read.tzinfo else read.replace(tzinfo=UTC)
    if read > datetime.now(UTC) + timedelta(days=1):
        raise Invalid("created_at", "must not be in the future")
    return read.astimezone(UTC)


def _moment(value: Any) -> datetime:
    if isinstance(value, int) or str(value).isdecimal():
        number = int(value)
        return datetime.fromtimestamp(number / 1000 if number > _MILLISECONDS else number, UTC)
    return datetime.fromisoformat(str(value))


def data(name: str, value: Any) -> dict[str, Any]:
    """Read a JSON object, or a string with one.

    Raises:
        Invalid: the value is neither.

    """
    if isinstance(value, str) and value:
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            raise Invalid(name, "must be JSON") from None
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise Invalid(name, "must be a JSON object")
    return value


def full_name(*parts: Any) -> str:
    """Join first and last name."""
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def picture(value: Any) -> str | None:
    """Return the URL of a picture if pages may show it, which needs https. Others are left out."""
    return value if isinstance(value, str) and value.startswith("https://") else None


def identifiers_of(username: str, email: str, phone: str) -> dict[str, str]:
    """Return the identifiers of a user, each in the field of its kind.

    In other systems, a username may be an email address or a phone number. It becomes the user's email or
    phone if there is none, and is dropped if it is the same.
    """
    if not username:
        return {"username": "", "email": email, "phone": phone}
    kind = identifiers.detect_kind(username)
    if kind is Kind.EMAIL:
        email = email or username
        username = "" if identifiers.fold(email) == identifiers.fold(username) else username
    elif kind is Kind.PHONE:
        phone = phone or username
        same = identifiers.parse_phone(phone) == identifiers.parse_phone(username)
        username = "" if same else username
    return {"username": username, "email": email, "phone": phone}
