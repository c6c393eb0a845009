"""The rights of administrators: what they may do, and that one who manages everything remains."""

from copy import copy
from typing import Any, Final

from django.db.models import Q
from django.utils.translation import gettext_noop

from identity.core import records
from identity.core.errors import ServiceError
from management.administrators import session_check
from management.administrators.models import Administrator

COLUMNS: Final = ("is_superuser", "role")


class LastSuperuser(ServiceError):
    """The change would leave no administrator of every tenant."""

    reason = "last_superuser"
    message = gettext_noop("the last administrator of every tenant can be neither deleted nor demoted")


def are_changed(administrator: Administrator, fields: dict[str, Any]) -> bool:
    """Return whether these fields change what the administrator may do."""
    now = {"is_superuser": administrator.is_superuser, "role": administrator.role}
    if any(fields.get(name, value) != value for name, value in now.items()):
        return True
    slugs = administrator.tenants.values_list("slug", flat=True)
    return "tenants" in fields and set(fields["tenants"]) != set(slugs)


def are_named(fields: dict[str, Any]) -> bool:
    """Return whether rights are among these fields."""
    return not fields.keys().isdisjoint((*COLUMNS, "tenants"))


def lock_for_change(
    administrator: Administrator, fields: dict[str, Any], *, by: Administrator | None, is_proven: bool
) -> dict[str, int]:
    """Lock the rows as ``lock``, and return the new epoch if ``is_superuser`` or ``role`` changes.

    ``is_proven`` is whether ``by`` has re-authenticated or needs no proof at all.

    Raises:
        records.Gone: another request has deleted the administrator.
        records.Stale: the rights have just become others, so that the fields change them and need a proof.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.
        LastSuperuser: the change would leave no administrator of every tenant.

    """
    others = lock(administrator, by=by)
    if not is_proven and are_changed(administrator, fields):
        raise records.Stale
    changed = copy(administrator)
    for name in COLUMNS:
        setattr(changed, name, fields.get(name, getattr(administrator, name)))
    if administrator.manages_everything and not changed.manages_everything and not others:
        raise LastSuperuser
    is_same = all(getattr(changed, name) == getattr(administrator, name) for name in COLUMNS)
    return {} if is_same else {"epoch": administrator.epoch + 1}


def lock(administrator: Administrator, *, by: Administrator | None) -> list[Administrator]:
    """Lock an administrator, ``by`` and all superusers, and return who else manages everything.

    ``administrator`` gets the rights that the row has now. All rows are locked in one order, so that two
    superusers can neither demote each other nor wait for each other.

    Raises:
        records.Gone: another request has deleted the administrator.
        session_check.SessionEnded: the credentials or rights of ``by`` have changed since the request began.

    """
    pks = [one.pk for one in (administrator, by) if one is not None]
    rows = Administrator.objects.select_for_update().filter(Q(is_superuser=True) | Q(pk__in=pks))
    locked = {row.pk: row for row in rows.order_by("pk")}
    current = locked.pop(administrator.pk, None)
    if by is not None:
        session_check.compare(by, current if by.pk == administrator.pk else locked.get(by.pk))
    if current is None:
        raise records.Gone
    for name in (*COLUMNS, "epoch"):
        setattr(administrator, name, getattr(current, name))
    return [other for other in locked.values() if other.manages_everything]
