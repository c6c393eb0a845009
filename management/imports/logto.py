"""Logto: its table of users as JSON or CSV, or the list of users from its API, without password hashes."""

from collections.abc import Iterator
from typing import Any, Final

from management.imports import files, otp, profiles, values
from management.imports.records import ForeignUser, ImportFile, Record

_READERS: Final = {"[": lambda path: files.items(path, files.document(path)), "{": files.json_lines}


def read(path: ImportFile) -> Iterator[Record]:
    """Return the records of an export: a JSON list, JSON lines, or CSV with a heading."""
    return _READERS.get(files.first_character(path), files.csv_rows)(path)


def to_user(raw: dict[str, Any]) -> ForeignUser:
    """Return the user of a record, whose fields have the names of the table or of the API.

    Raises:
        Invalid: a value cannot be read.

    """
    email, phone = values.text(_member(raw, "primary_email")), values.text(_member(raw, "primary_phone"))
    profile = values.json_object("profile", raw.get("profile"))
    data = values.json_object("custom_data", _member(raw, "custom_data"))
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
        "avatar": values.picture_url(raw.get("avatar")),
        "is_suspended": values.flag("is_suspended", _member(raw, "is_suspended")),
        "profile": profiles.from_logto(profile),
        "custom_data": data,
        "password_hash": values.text(_member(raw, "password_encrypted")),
    }
    if created_at := values.timestamp(_member(raw, "created_at")):
        fields["created_at"] = created_at
    return ForeignUser(
        find_id(raw),
        fields,
        secrets=lambda: otp.read_logto(_member(raw, "mfa_verifications")),
    )


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user."""
    return values.text(raw.get("id"))


def _member(raw: dict[str, Any], name: str) -> Any:
    """Return a member by its name in the table or, in camel case, in the API."""
    first, *rest = name.split("_")
    return raw.get(name, raw.get(first + "".join(word.title() for word in rest)))
