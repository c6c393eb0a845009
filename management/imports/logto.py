"""Logto: its table of users as JSON or CSV, or its API's list of users, which has no password hashes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from management.imports import files, values
from management.imports.records import Foreign, Raw

_READERS: Final = {"[": lambda path: files.items(path, files.document(path)), "{": files.json_lines}


def read(path: Path) -> Iterator[Raw]:
    """Return the users of an export: a list, JSON lines, or CSV with a heading."""
    return _READERS.get(files.begins_with(path), files.csv_rows)(path)


def person(raw: dict[str, Any]) -> Foreign:
    """Return a user, whose fields are named as in the table or as in the API.

    Raises:
        Invalid: a value cannot be read.

    """
    email, phone = values.text(_of(raw, "primary_email")), values.text(_of(raw, "primary_phone"))
    profile = values.data("profile", raw.get("profile"))
    data = values.data("custom_data", _of(raw, "custom_data"))
    if profile:
        data = {"profile": profile} | ({"gender": profile["gender"]} if "gender" in profile else {}) | data
    fields: dict[str, Any] = {
        "username": values.text(raw.get("username")),
        "email": email,
        # In Logto, every primary email and phone is verified or was set by an administrator.
        "email_verified": bool(email),
        # Logto stores the digits only, country code first.
        "phone": f"+{phone}" if phone.isdecimal() else phone,
        "phone_verified": bool(phone),
        "name": values.text(raw.get("name"))
        or values.full_name(profile.get("givenName"), profile.get("familyName")),
        "avatar": values.picture(raw.get("avatar")),
        "is_suspended": values.flag("is_suspended", _of(raw, "is_suspended")),
        "custom_data": data,
        "password_hash": values.text(_of(raw, "password_encrypted")),
    }
    if moment := values.moment(_of(raw, "created_at")):
        fields["created_at"] = moment
    return Foreign(values.text(raw.get("id")), fields)


def _of(raw: dict[str, Any], name: str) -> Any:
    first, *rest = name.split("_")
    return raw.get(name, raw.get(first + "".join(word.title() for word in rest)))
