"""Gatehouse's own format: CSV or JSON lines with the fields of the management API, and a few more."""

import re
from collections.abc import Collection
from typing import Any, Final

from django.utils.translation import gettext_noop

from identity.core.errors import Invalid
from identity.core.refusal_texts import fill
from identity.users.profile import TOP_LEVEL
from management.imports import otp, values
from management.imports.records import ForeignUser

COLUMNS: Final = (
    *("id", "username", "email", "email_verified", "phone", "phone_verified", "name", "avatar"),
    *("password_hash", "totp_secret", "custom_data", "is_suspended", "created_at", *TOP_LEVEL, "profile"),
)
LINE: Final = "line"  # replaces the name of a column that an error must not quote
_NAME: Final = re.compile(r"[A-Za-z_ -]{1,40}")
_FLAGS: Final = ("email_verified", "phone_verified", "is_suspended")


def to_user(raw: dict[str, Any]) -> ForeignUser:
    """Return the user of a record.

    Raises:
        Invalid: a column is unknown, or a value cannot be read.

    """
    check_columns(raw)
    apart = {"id", "totp_secret"}
    fields = {name: value for name, value in raw.items() if name not in apart and value is not None}
    for name in _FLAGS:
        if fields.get(name) == "":
            del fields[name]  # says nothing, and is not false
        elif name in fields:
            fields[name] = values.flag(name, fields[name])
    for name in ("custom_data", "profile"):
        if name in fields:
            fields[name] = values.json_object(name, fields[name])
    for name in TOP_LEVEL:
        if not fields.get(name, True):
            # An empty cell must not overwrite the member of the column ``profile``.
            del fields[name]
    if created_at := values.timestamp(fields.pop("created_at", None)):
        fields["created_at"] = created_at
    secret = raw.get("totp_secret")
    return ForeignUser(
        find_id(raw),
        fields,
        secrets=lambda: [otp.read_base32(secret)] if secret not in (None, "") else [],
        has_unique_id=values.is_unique_id(raw.get("id")),
    )


def find_id(raw: dict[str, Any]) -> str:
    """Return the id of a user, or the first identifier if there is no ``id``."""
    identifiers = ((kind, values.identifier(raw.get(kind))) for kind in ("username", "email", "phone"))
    first = next((f"{kind}:{value}" for kind, value in identifiers if value), "")
    return values.identifier(raw.get("id")) or first


def check_columns(names: Collection[str]) -> None:
    """Check that all columns are known.

    Raises:
        Invalid: a column is unknown.

    """
    if unknown := sorted(set(names) - set(COLUMNS)):
        name = str(unknown[0])
        # In a file without a heading, the first row is read as the heading: a name can be a password hash.
        columns = ", ".join(COLUMNS)
        if _NAME.fullmatch(name):
            raise Invalid(
                name, fill(gettext_noop("is not a column; the columns are %(columns)s"), columns=columns)
            )
        raise Invalid(
            LINE, fill(gettext_noop("has an unknown column; the columns are %(columns)s"), columns=columns)
        )
