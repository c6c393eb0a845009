"""Auth0: a bulk export of users, and the file of password hashes, which Auth0's support sends separately."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.users import imported_hashes
from identity.users.imported_hashes import Bounds
from management.imports import files, profiles, values
from management.imports.records import ForeignUser, ImportFile, Record, Unreadable


def read(path: ImportFile) -> Iterator[Record]:
    """Return the records of an export: JSON lines or a JSON list."""
    if files.first_character(path) == "[":
        return files.items(path, files.document(path))
    return files.json_lines(path)


def passwords(path: ImportFile) -> dict[str, str]:
    """Return the password hashes of the file from Auth0's support, by user id.

    Raises:
        Unreadable: a record has no id or hash.

    """
    hashes: dict[str, str] = {}
    for raw in read(path):
        password = raw.value.get("passwordHash") or raw.value.get("password_hash")
        if raw.refusal or not isinstance(password, str) or not find_id(raw.value):
            raise Unreadable(
                fill(
                    gettext_noop("%(file)s: record %(row)s has no id or no passwordHash"),
                    file=path.name,
                    row=raw.place.row,
                )
            )
        hashes[find_id(raw.value)] = password
    return hashes


def to_user(raw: dict[str, Any], hashes: dict[str, str]) -> ForeignUser:
    """Return the user of a record.

    Raises:
        Invalid: a value cannot be read.

    """
    email, phone = values.text(raw.get("email")), values.text(raw.get("phone_number"))
    identifiers = values.split_identifiers(values.text(raw.get("username")), email, phone)
    name = values.text(raw.get("name"))
    if not name or name in (email, raw.get("username"), raw.get("phone_number")):  # values of any type
        # For a user without a name, Auth0 exports the email address as the name.
        name = values.full_name(raw.get("given_name"), raw.get("family_name"))
    metadata = {
        name: data
        for name in ("user_metadata", "app_metadata")
        if (data := values.json_object(name, raw.get(name)))
    }
    fields: dict[str, Any] = identifiers | {
        "name": name,
        "email_verified": bool(email) and values.flag("email_verified", raw.get("email_verified")),
        "phone_verified": bool(phone)
        and values.flag("phone_verified", raw.get("phone_verified", raw.get("phone_number_verified"))),
        "avatar": values.picture_url(raw.get("picture")),
        "is_suspended": values.flag("blocked", raw.get("blocked")),
        "profile": profiles.select_valid(
            {name: raw.get(name) for name in ("given_name", "family_name", "nickname")}
        ),
        "custom_data": metadata,
    }
    if created_at := values.timestamp(raw.get("created_at")):
        fields["created_at"] = created_at
    hashed = hashes.get(find_id(raw)) or raw.get("passwordHash") or raw.get("password_hash")
    password = hashed or raw.get("custom_password_hash")
    return ForeignUser(find_id(raw), fields, (lambda bounds: _encode(password, bounds)) if password else None)


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user, without the name of the connection, which only the export contains."""
    object_id = raw.get("_id")
    user_id = raw.get("user_id") or (object_id.get("$oid") if isinstance(object_id, dict) else object_id)
    return values.text(user_id).removeprefix("auth0|")


def _encode(password: Any, bounds: Bounds) -> str:
    """Return a password hash in our format.

    An object is a hash that was imported into Auth0, whose user has not signed in since.
    """
    if isinstance(password, dict):
        hashed = password.get("hash")
        if not isinstance(hashed, dict) or hashed.get("encoding", "utf8") != "utf8" or "password" in password:
            raise Invalid("password_hash", gettext_noop("must be in PHC format, with the encoding utf8"))
        password = hashed.get("value")
    return imported_hashes.normalize(values.text(password), bounds)
