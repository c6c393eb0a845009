"""Auth0: a bulk export of users, and the password hashes, which its support sends separately."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from identity.core.errors import Invalid
from identity.users import imported_hashes
from management.imports import files, values
from management.imports.records import Foreign, Raw, Unreadable


def read(path: Path) -> Iterator[Raw]:
    """Return the users of an export, which is JSON lines or a list."""
    if files.begins_with(path) == "[":
        return files.items(path, files.document(path))
    return files.json_lines(path)


def passwords(path: Path) -> dict[str, str]:
    """Return the password hashes of the file from Auth0's support, by user id.

    Raises:
        Unreadable: a record has no id or hash.

    """
    found: dict[str, str] = {}
    for raw in read(path):
        password = raw.value.get("passwordHash") or raw.value.get("password_hash")
        if raw.refusal or not isinstance(password, str) or not _id(raw.value):
            raise Unreadable(f"{path.name}: record {raw.place.row} has no id or no passwordHash")
        found[_id(raw.value)] = password
    return found


def person(raw: dict[str, Any], hashes: dict[str, str]) -> Foreign:
    """Return a user of an export.

    Raises:
        Invalid: a value cannot be read.

    """
    email = values.text(raw.get("email"))
    identifiers = values.identifiers_of(
        values.text(raw.get("username")), email, values.text(raw.get("phone_number"))
    )
    name = values.text(raw.get("name"))
    if not name or name in {email, raw.get("username"), raw.get("phone_number")}:
        # Without a name, Auth0 uses the address as the name.
        name = values.full_name(raw.get("given_name"), raw.get("family_name"))
    kept = {
        key: data for key in ("user_metadata", "app_metadata") if (data := values.data(key, raw.get(key)))
    }
    fields: dict[str, Any] = identifiers | {
        "name": name,
        "email_verified": bool(email) and values.flag("email_verified", raw.get("email_verified")),
        "phone_verified": values.flag(
            "phone_verified", raw.get("phone_verified", raw.get("phone_number_verified"))
        ),
        "avatar": values.picture(raw.get("picture")),
        "is_suspended": values.flag("blocked", raw.get("blocked")),
        "custom_data": kept,
    }
    if moment := values.moment(raw.get("created_at")):
        fields["created_at"] = moment
    hashed = hashes.get(_id(raw)) or raw.get("passwordHash") or raw.get("password_hash")
    given = hashed or raw.get("custom_password_hash")
    return Foreign(_id(raw), fields, (lambda: _encoded(given)) if given else None)


def _id(raw: dict[str, Any]) -> str:
    """Return the id of a user. An export has the connection's name before it, the file of hashes not."""
    of_database = raw.get("_id")
    given = raw.get("user_id") or (of_database.get("$oid") if isinstance(of_database, dict) else of_database)
    return values.text(given).removeprefix("auth0|")


def _encoded(given: Any) -> str:
    """Return the hash in our format: one of Auth0's, or one that was imported there and not used yet."""
    if isinstance(given, dict):
        hashed = given.get("hash")
        if not isinstance(hashed, dict) or hashed.get("encoding", "utf8") != "utf8" or "password" in given:
            raise Invalid("password_hash", "must be in PHC format, with the encoding utf8")
        given = hashed.get("value")
    return imported_hashes.normalize(values.text(given), imported_hashes.IMPORT_BOUNDS)
