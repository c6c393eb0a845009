"""Creating, changing and deleting tenants."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from audit import log, retention
from audit.events import Event
from identity.core import audit_facts, records, tenancy
from identity.core.errors import Invalid, ServiceError
from identity.core.proof import TokenTooOld
from identity.tenants.models import SLUG, RetiredTenant, Tenant


class DefaultTenantIsProtected(ServiceError):
    """The default tenant cannot be deleted."""

    reason = "default_tenant"
    message = gettext_noop("the default tenant cannot be deleted")


def check_slug(slug: str) -> None:
    """Check that a new tenant may have a slug. Slugs of existing tenants are not refused here.

    Raises:
        Invalid: the slug is not 1 to 63 of ``a-z``, ``0-9`` and ``-``, or a deleted tenant had it.

    """
    if not SLUG.fullmatch(slug):
        raise Invalid("slug", gettext_noop("must be 1 to 63 lower-case letters, digits or dashes"))
    if RetiredTenant.objects.filter(slug=slug).exists():
        raise Invalid(
            "slug", gettext_noop("belonged to a deleted tenant and cannot be used again"), code="not_unique"
        )


@transaction.atomic
def provision(*, slug: str, name: str, audit_retention_days: int | None = None) -> Tenant:
    """Create a tenant with its initial records.

    ``settings.TENANT_PROVISIONERS`` names the functions that create these records inside the new tenant,
    so that this app need not import theirs.

    Raises:
        Invalid: another tenant has or had the slug, or the slug is not 1 to 63 of ``a-z``, ``0-9`` and ``-``.

    """
    check_slug(slug)
    identity = {"id": tenancy.DEFAULT_ID} if slug == tenancy.DEFAULT_ID else {}
    try:
        with transaction.atomic():
            tenant = Tenant.objects.create(slug=slug, name=name, **identity)
    except IntegrityError:
        raise records.Taken("slug") from None
    with tenancy.using(tenant.to_active()):
        for path in settings.TENANT_PROVISIONERS:
            import_string(path)()
        retention.set_days(tenant.pk, audit_retention_days)
        log.record(Event.TENANT_CREATE, slug=slug, name=name)
    return tenant


@transaction.atomic
def change(
    tenant: Tenant,
    fields: Mapping[str, Any],
    *,
    expected: frozenset[int] | None = None,
    is_proven: bool,
) -> None:
    """Change ``name`` and ``audit_retention_days`` (None: entries are never deleted).

    ``is_proven`` is whether the administrator who makes the change has signed in recently.

    Raises:
        TokenTooOld: the log would be kept for a shorter time, and ``is_proven`` is false.
        records.Stale: the tenant was changed since the caller read it.
        records.Gone: the tenant was deleted.

    """
    columns = {name: value for name, value in fields.items() if name == "name"}
    if "audit_retention_days" in fields:
        records.lock(tenant, expected)  # so that nobody sets other days between the check and the change
    days = retention.get_days(tenant.pk)
    new_days = fields.get("audit_retention_days", days)
    facts: dict[str, Any] = {}
    if new_days != days:
        if not is_proven and new_days is not None and (days is None or new_days < days):
            raise TokenTooOld
        retention.set_days(tenant.pk, new_days)
        facts = audit_facts.change_facts({"audit_retention_days": days}, {"audit_retention_days": new_days})
    records.change(
        tenant,
        columns,
        event=Event.TENANT_UPDATE,
        expected=expected,
        changed_fields=sorted(fields),
        changes_more=new_days != days,
        **facts,
    )


def lock() -> None:
    """Lock the row of the active tenant until the transaction ends, so that some changes wait for others."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenancy.active_id())


def set_session_settings(**columns: int | bool | None) -> None:
    """Set how long sessions of the active tenant live, and whether users choose to stay signed in."""
    Tenant.objects.filter(pk=tenancy.active_id()).update(**columns)


def get_highest_level() -> int:
    """Return the highest level of sign-ins that the factors of the active tenant reach."""
    return Tenant.objects.values_list("highest_level", flat=True).get(pk=tenancy.active_id())


def set_highest_level(level: int) -> None:
    """Set the highest level of sign-ins that the factors of the active tenant reach."""
    Tenant.objects.filter(pk=tenancy.active_id()).update(highest_level=level)


@transaction.atomic
def remove(tenant: Tenant, *, expected: frozenset[int] | None = None) -> None:
    """Delete a tenant with all its records except the audit log.

    Raises:
        DefaultTenantIsProtected: the tenant is the default tenant.
        records.Stale: the tenant was changed since the caller read it.

    """
    if tenant.pk == tenancy.DEFAULT_ID:
        raise DefaultTenantIsProtected
    RetiredTenant.objects.create(pk=tenant.pk, slug=tenant.slug)
    with tenancy.using(tenancy.EVERYWHERE):
        records.remove(
            tenant, event=Event.TENANT_DELETE, expected=expected, slug=tenant.slug, name=tenant.name
        )
