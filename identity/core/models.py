"""Base models of a tenant's rows, and the manager that limits queries to the active tenant."""

from typing import Self, TypeVar

from django.db import models
from django.utils import timezone

from database import ids
from identity.core import tenancy

M_co = TypeVar("M_co", bound=models.Model, covariant=True)


class TenantManager(models.Manager[M_co]):
    """Returns only the rows of the active tenant, or all rows under ``tenancy.EVERYWHERE``.

    Raises ``NoActiveTenant`` if neither is set.
    """

    def get_queryset(self) -> models.QuerySet[M_co]:
        queryset = super().get_queryset()
        scope = tenancy.scope()
        if isinstance(scope, tenancy.Everywhere):
            return queryset
        return queryset.filter(tenant_id=scope.id)


class Timestamped(models.Model):
    """When a row was created and last edited, UTC."""

    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        abstract = True


class Versioned(Timestamped):
    """A row that administrators edit. Each edit increments ``version``, so that no edit is lost."""

    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True


class TenantModel(Timestamped):
    """A row that belongs to one tenant, which never changes."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant = models.ForeignKey(
        "tenants.Tenant",
        on_delete=models.CASCADE,
        related_name="+",
        default=tenancy.active_id,
        editable=False,
        db_index=False,  # each model has another index that begins with the tenant: tests/test_indexes.py
    )

    objects: models.Manager[Self] = TenantManager()

    class Meta:
        abstract = True


class EditableModel(TenantModel, Versioned):
    """A row of a tenant that administrators edit."""

    class Meta:
        abstract = True


class CounterShard(models.Model):
    """A shard of a stored number of rows: see ``database.row_counts``."""

    tenant = models.ForeignKey(
        "tenants.Tenant",
        on_delete=models.DO_NOTHING,
        related_name="+",
        default=tenancy.active_id,
        editable=False,
        db_constraint=False,
        db_index=False,
    )

    class Meta:
        abstract = True


class Link(models.Model):
    """A link between two rows of one tenant, without other fields."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant = models.ForeignKey(
        "tenants.Tenant",
        on_delete=models.CASCADE,
        related_name="+",
        default=tenancy.active_id,
        editable=False,
        db_index=False,  # each model has another index that begins with the tenant: tests/test_indexes.py
    )

    objects: models.Manager[Self] = TenantManager()

    class Meta:
        abstract = True
