"""The facts of a change in the audit log: the names of all fields, and the values of critical ones.

The log must show, for example, who was made an administrator and which redirect URIs were added. Secrets are
never included.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Model

CRITICAL: Final = frozenset(
    {
        "role", "is_superuser", "tenants", "is_admin", "is_third_party", "redirect_uris", "enabled",
        "is_suspended",
    }
)  # fmt: skip
_BOOKKEEPING: Final = frozenset(
    {"id", "tenant", "created_at", "updated_at", "version", "search_text", "epoch", "last_login"}
)
_UNSET: Final[tuple[Any, ...]] = (None, "", [], {}, False)
_MOST: Final = 100  # items of a list


def values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the critical fields, as JSON."""
    return {name: _brief(fields[name]) for name in sorted(CRITICAL & fields.keys())}


def of_new_row(row: Model) -> dict[str, Any]:
    """Return the facts of a new row: the names of the fields that are set, and the critical values."""
    given = {
        field.name: getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in _BOOKKEEPING and not field.name.endswith("_key")
    }
    kept = values(given)
    named = sorted(name for name, value in given.items() if value not in _UNSET)
    return {"fields": named} | ({"values": kept} if kept else {})


def of_change(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the critical values of a change, after and before it."""
    kept = values(after)
    return (
        {"values": kept, "before": values({name: before[name] for name in kept if name in before})}
        if kept
        else {}
    )


def _brief(value: Any) -> Any:
    return list(value)[:_MOST] if isinstance(value, list | tuple | set) else value
