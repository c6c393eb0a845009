"""What the audit log stores of a changed row: the names of all fields, and the values of critical fields.

The log must show, for example, who became an administrator and which redirect URIs were added. Secrets are
never included.
"""

from collections.abc import Mapping
from typing import Any, Final

from django.db.models import Model

CRITICAL: Final = frozenset(
    {
        "role", "is_superuser", "tenants", "is_admin", "is_third_party", "redirect_uris", "enabled",
        "is_suspended", "audit_retention_days",
    }
)  # fmt: skip
_BOOKKEEPING: Final = frozenset(
    {"id", "tenant", "created_at", "updated_at", "version", "search_text", "epoch", "last_login"}
)
# Columns that are not editable are derived from others and left out, except these. The values are their names
# in the API.
_NAMES: Final = {"client_id": "client_id", "sealed_config": "config"}
_UNSET: Final[tuple[Any, ...]] = (None, "", [], {}, False)
_BRANDING: Final = "branding"
_MAX_ITEMS: Final = 100  # in a stored list


def critical_values(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of the critical fields, as JSON."""
    return {name: _brief(fields[name]) for name in sorted(CRITICAL & fields.keys())}


def new_row_facts(row: Model) -> dict[str, Any]:
    """Return the names of the fields that are set in a new row, as in the API, and the critical values."""
    fields = {
        _NAMES.get(field.name, field.name): getattr(row, field.attname)
        for field in row._meta.concrete_fields
        if field.name not in _BOOKKEEPING and (field.editable or field.name in _NAMES)
    }
    critical = critical_values(fields)
    named = sorted(name for name, value in fields.items() if value not in _UNSET)
    return {"fields": named} | ({"values": critical} if critical else {})


def change_facts(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """Return the critical values after and before a change."""
    critical = critical_values(after)
    if not critical:
        return {}
    return {
        "values": critical,
        "before": critical_values({name: before[name] for name in critical if name in before}),
    }


def name_members(names: list[str], before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return the names of changed fields, with the changed members of a branding instead of its name."""
    if _BRANDING not in names or _BRANDING not in after:
        return names
    old, new = before[_BRANDING], after[_BRANDING]
    # A member that is not set is empty or absent.
    changed = [name for name in old.keys() | new.keys() if (old.get(name) or "") != (new.get(name) or "")]
    members = [f"{_BRANDING}.{name}" for name in changed] or [_BRANDING]
    return sorted([*(name for name in names if name != _BRANDING), *members])


def _brief(value: Any) -> Any:
    return list(value)[:_MAX_ITEMS] if isinstance(value, list | tuple | set) else value
