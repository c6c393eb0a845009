"""Functions that parse the values of records: flags, timestamps, names, identifiers."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson
from django.utils.translation import gettext_noop

from database import ids
from identity.core.errors import Invalid
from identity.users import identifiers
from identity.users.identifiers import Kind

_TRUE: Final = {"true", "t", "1", "yes"}
_FALSE: Final = {"false", "f", "0", "no", ""}
_EARLIEST: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECONDS: Final = 10**11  # a greater number is in milliseconds, not seconds


def text(value: Any) -> str:
    """Return the value if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def identifier(value: Any) -> str:
    """Return an id that is a string or an integer as text, otherwise an empty string."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return str(value) if is_number else text(value)


def is_unique_id(value: Any) -> bool:
    """Return whether an id means one user in all systems: it is a UUID, or empty.

    Without an id, an identifier of the user replaces it.
    """
    return not identifier(value) or ids.parse(value) is not None


def flag(name: str, value: Any) -> bool:
    """Return a boolean, as JSON has it or as databases write it to CSV.

    Raises:
        Invalid: the value is not a boolean.

    """
    if value is None or isinstance(value, bool):
        return bool(value)
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise Invalid(name, gettext_noop("must be true or false"))
    return word in _TRUE


def timestamp(value: Any) -> datetime | None:
    """Return a timestamp from ISO 8601, or from seconds or milliseconds since 1970. The default zone is UTC.

    Raises:
        Invalid: the value is not a timestamp, is before 1970, or is in the future.

    """
    if value in (None, ""):
        return None
    try:
        read = _parse_timestamp(value)
        moment = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise Invalid(
            "created_at", gettext_noop("must be a time, in ISO 8601 or in seconds since 1970")
        ) from None
    if moment > datetime.now(UTC) + timedelta(days=1):
        raise Invalid("created_at", gettext_noop("must not be in the future"))
    if moment < _EARLIEST:
        raise Invalid("created_at", gettext_noop("must not be before 1970"))
    return moment


def _parse_timestamp(value: Any) -> datetime:
    if isinstance(value, int) or str(value).isdecimal():
        number = int(value)
        return datetime.fromtimestamp(number / 1000 if number > _MILLISECONDS else number, UTC)
    return datetime.fromisoformat(str(value))


def json_object(name: str, value: Any) -> dict[str, Any]:
    """Return a JSON object, which a string can contain too.

    Raises:
        Invalid: the value is not a JSON object.

    """
    value = _parse_json(name, value)
    if value in (None, ""):
        return {}
    if not isinstance(value, dict):
        raise Invalid(name, gettext_noop("must be a JSON object"))
    return value


def json_objects(name: str, value: Any) -> list[dict[str, Any]]:
    """Return a JSON list of objects, which a string can contain too.

    Raises:
        Invalid: the value is not such a list.

    """
    value = _parse_json(name, value)
    if value in (None, ""):
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise Invalid(name, gettext_noop("must be JSON"))
    return value


def _parse_json(name: str, value: Any) -> Any:
    if not isinstance(value, str) or not value:
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        raise Invalid(name, gettext_noop("must be JSON")) from None


def full_name(*parts: Any) -> str:
    """Join first and last name."""
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def picture_url(value: Any) -> str | None:
    """Return the URL of a picture if it is https; None otherwise, because pages cannot show it."""
    return value if isinstance(value, str) and value.startswith("https://") else None


def split_identifiers(username: str, email: str, phone: str) -> dict[str, Any]:
    """Return username, email and phone, each with a value of its own kind.

    In other systems, a username can be an email address or a phone number. Such a username becomes the email
    or phone of a user who has none, and is dropped if it is the same. The user chose it, so an address that
    it becomes has a verified flag, which is false.
    """
    if not username:
        return {"username": "", "email": email, "phone": phone}
    kind = identifiers.detect_kind(username)
    chosen: dict[str, Any] = {}
    if kind is Kind.EMAIL:
        chosen = {} if email else {"email_verified": False}
        email = email or username
        username = "" if identifiers.fold(email) == identifiers.fold(username) else username
    elif kind is Kind.PHONE:
        chosen = {} if phone else {"phone_verified": False}
        phone = phone or username
        same = identifiers.parse_phone(phone) == identifiers.parse_phone(username)
        username = "" if same else username
    return {"username": username, "email": email, "phone": phone} | chosen
