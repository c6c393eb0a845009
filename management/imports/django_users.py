"""Django: the table ``auth_user`` as CSV, or the output of ``manage.py dumpdata auth.user``."""

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext_noop

from management.imports import files, profiles, values
from management.imports.records import ForeignUser, ImportFile, LeftOut, Record


def read(path: ImportFile) -> Iterator[Record]:
    """Return the records of an export."""
    if files.first_character(path) == "[":
        return files.items(path, files.document(path))
    return files.csv_rows(path)


def to_user(raw: dict[str, Any]) -> ForeignUser:
    """Return the user of a record. Staff and superusers become ordinary users.

    Raises:
        LeftOut: the record is not a user.
        Invalid: a value cannot be read.

    """
    row = _get_row(raw)
    if not _is_user(raw, row):
        raise LeftOut(gettext_noop("not a user"))
    email, hashed = values.text(row.get("email")), values.text(row.get("password"))
    username, phone = values.text(row.get("username")), values.text(row.get("phone"))
    fields = values.split_identifiers(username, email, phone) | {
        "name": values.full_name(row.get("first_name"), row.get("last_name")),
        "profile": profiles.from_names(row.get("first_name"), row.get("last_name")),
        "is_suspended": not values.flag("is_active", row.get("is_active", True)),
        # Django marks an unusable password with an exclamation mark.
        "password_hash": "" if hashed.startswith("!") else hashed,
    }
    if created_at := values.timestamp(row.get("date_joined")):
        fields["created_at"] = created_at
    return ForeignUser(find_id(raw), fields, has_unique_id=values.is_unique_id(row.get("id")))


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user, or the username if there is no id.

    Return an empty string for a record that is not a user: the key of a session or a token is secret.
    """
    row = _get_row(raw)
    if not _is_user(raw, row):
        return ""
    return values.identifier(row.get("id")) or values.text(row.get("username"))


def _is_user(raw: dict[str, Any], row: dict[str, Any]) -> bool:
    """Return whether a record with these columns is a user. ``dumpdata`` writes all kinds of rows."""
    return row is raw or "password" in row


def _get_row(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a record. ``dumpdata`` writes them into ``fields``, and the id into ``pk``."""
    if "model" in raw and isinstance(raw.get("fields"), dict):
        columns: dict[str, Any] = raw["fields"]
        return columns | {"id": raw.get("pk")}
    return raw
