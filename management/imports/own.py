"""Our own format, CSV or JSON lines: the fields of the management API, and whether addresses are verified."""

from typing import Any, Final

from identity.core.errors import Invalid
from management.imports import values
from management.imports.records import Foreign

COLUMNS: Final = (
    *("id", "username", "email", "email_verified", "phone", "phone_verified", "name", "avatar"),
    *("password_hash", "custom_data", "is_suspended", "created_at"),
)
_FLAGS: Final = ("email_verified", "phone_verified", "is_suspended")


def person(raw: dict[str, Any]) -> Foreign:
    """Return the user of a row. Without an ``id``, the first identifier is the id.

    Raises:
        Invalid: a column is unknown, or a value cannot be read.

    """
    if unknown := sorted(raw.keys() - set(COLUMNS)):
        raise Invalid(str(unknown[0])[:64], f"is not a column; the columns are {', '.join(COLUMNS)}")
    fields = {name: value for name, value in raw.items() if name != "id" and value is not None}
    for name in _FLAGS:
        if name in fields:
            fields[name] = values.flag(name, fields[name])
    if "custom_data" in fields:
        fields["custom_data"] = values.data("custom_data", fields["custom_data"])
    if moment := values.moment(fields.pop("created_at", None)):
        fields["created_at"] = moment
    first = next((f"{kind}:{raw[kind]}" for kind in ("username", "email", "phone") if raw.get(kind)), "")
    return Foreign(str(raw.get("id") or first), fields)
