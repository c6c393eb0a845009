"""Creating, changing and deleting tenants."""

import re
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.module_loading import import_string

from audit import log, retention
from audit.events import Event
from identity.core import records, tenancy
from identity.core.errors import Invalid, ServiceError
from identity.tenants.models import RetiredTenant, Tenant

_SLUG: Final = re.compile(r"[a-z0-9-]{1,63}")


class DefaultTenantIsProtected(ServiceError):
    """The default tenant cannot be deleted."""

    reason = "default_tenant"
    message = "the default tenant cannot be deleted"


@transaction.atomic
def provision(*, slug: str, name: str, audit_retention_days: int | None = None) -> Tenant:
    """Create a tenant with its initial records.

    ``settings.TENANT_PROVISIONERS`` names the functions that create these records inside the new tenant,
    so that this app need not import theirs.

    Raises:
        Invalid: another tenant has or had the slug, or the slug is not 1 to 63 of ``a-z``, ``0-9`` and ``-``.

    """
    if not _SLUG.fullmatch(slug):
        raise Invalid("slug", "must be 1 to 63 lower-case letters, digits or dashes")
    identity = {"id": tenancy.DEFAULT_ID} if slug == tenancy.DEFAULT_ID else {}
    if RetiredTenant.objects.filter(slug=slug).exists():
        raise Invalid("slug", "belonged to a deleted tenant and cannot be used again")
    try:
        with transaction.atomic():
            tenant = Tenant.objects.create(slug=slug, name=name, **identity)
    except IntegrityError:
        raise Invalid("slug", "already exists") from None
    with tenancy.using(tenant.to_active()):
        for path in settings.TENANT_PROVISIONERS:
            import_string(path)()
        retention.set_days(tenant.pk, audit_retention_days)
        log.record(Event.TENANT_CREATE, slug=slug, name=name)
    return tenant


@transaction.atomic
def change(tenant: Tenant, fields: Mapping[str, Any], *, expected: frozenset[int] | None = None) -> None:
    """Change ``name`` and ``audit_retention_days`` (None: entries are never deleted).

    Raises:
        records.Stale: the tenant was changed since the caller read it.

    """
    columns = {name: value for name, value in fields.items() if name == "name"}
    if "audit_retention_days" in fields:
        retention.set_days(tenant.pk, fields["audit_retention_days"])
    records.change(
        tenant, columns, event=Event.TENANT_UPDATE, expected=expected, changed_fields=sorted(fields)
    )


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
