"""Every row of every tenant, to compare before and after."""

from typing import Any

from django.apps import apps

from identity.core import expiry, tenancy
from identity.core.models import TenantModel


def everything() -> dict[str, Any]:
    """Return all rows of all tenants, and all administrators, but not expired rows.

    Any request may delete those.
    """
    kinds: list[Any] = [model for model in apps.get_models() if issubclass(model, TenantModel)]
    kinds += [apps.get_model("tenants.Tenant"), apps.get_model("administrators.Administrator")]
    with tenancy.using(tenancy.EVERYWHERE):
        found = {kind._meta.label: list(kind._base_manager.order_by("pk").values()) for kind in kinds}
    for row in found["administrators.Administrator"]:
        row.pop("last_login")
    return leave_out(expired_ids(), found)


def expired_ids() -> set[Any]:
    with tenancy.using(tenancy.EVERYWHERE):
        return {pk for kind in expiry.get_kinds() for pk in kind.find_expired().values_list("pk", flat=True)}


def leave_out(ids: set[Any], found: dict[str, Any]) -> dict[str, Any]:
    return {kind: [row for row in rows if row["id"] not in ids] for kind, rows in found.items()}


def changed_since(before: dict[str, Any]) -> dict[str, list[str]]:
    """Return the rows that differ, by model.

    To explain the difference of whole lists, pytest would take an hour.
    """
    now = everything()
    expired = expired_ids()  # also what expired a moment ago, after ``now`` was read
    before, now = leave_out(expired, before), leave_out(expired, now)
    differing = {
        kind: {*map(repr, rows)} ^ {*map(repr, before[kind])}
        for kind, rows in now.items()
        if rows != before[kind]  # to write down every row takes seconds
    }
    return {kind: sorted(rows) for kind, rows in differing.items() if rows}
