"""What several systems write alike: flags, moments, names, and usernames that are addresses."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import orjson

from identity.core.errors import Invalid
from identity.users import identifiers
from identity.users.identifiers import Kind

_TRUE: Final = {"true", "t", "1", "yes"}
_FALSE: Final = {"false", "f", "0", "no", ""}
_MILLISECONDS: Final = 10**11  # what is greater cannot be seconds


def text(value: Any) -> str:
    """Return a text as it is, and nothing for what is none."""
    return value if isinstance(value, str) else ""


def flag(name: str, value: Any) -> bool:
    """Read a flag, as JSON or as databases write it into CSV.

    Raises:
        Invalid: it is none.

    """
    if value is None or isinstance(value, bool):
        return bool(value)
    word = str(value).lower()
    if word not in _TRUE | _FALSE:
        raise Invalid(name, "must be true or false")
    return word in _TRUE


def moment(value: Any) -> datetime | None:
    """Read a moment: ISO 8601, or seconds or milliseconds since 1970. Without a zone it is UTC.

    Raises:
        Invalid: it is none, or lies ahead.

    """
    if value in (None, ""):
        return None
    try:
        read = _moment(value)
    except (ValueError, OverflowError, OSError):
        raise Invalid("created_at", "must be a moment, in ISO 8601 or in seconds since 1970") from None
    read = read if read.tzinfo else read.replace(tzinfo=UTC)
    if read > datetime.now(UTC) + timedelta(days=1):
        raise Invalid("created_at", "must not lie ahead")
    return read.astimezone(UTC)


def _moment(value: Any) -> datetime:
    if isinstance(value, int) or str(value).isdecimal():
        number = int(value)
        return datetime.fromtimestamp(number / 1000 if number > _MILLISECONDS else number, UTC)
    return datetime.fromisoformat(str(value))


def data(name: str, value: Any) -> dict[str, Any]:
    """Read a JSON object, or the text of one.

    Raises:
        Invalid: it is neither.

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
    """Put first and last name together."""
    return " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())


def picture(value: Any) -> str | None:
    """Return the address of a picture if pages of ours may show it; none is not worth a refusal."""
    return value if isinstance(value, str) and value.startswith("https://") else None


def known_by(username: str, email: str, phone: str) -> dict[str, str]:
    """Return the identifiers of a person, each in the place that its shape has here.

    Elsewhere a username may be an address or a phone number. It becomes the email or the
    phone of who has none, and says nothing when it repeats it.
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
