"""/tenants, which only superusers may use."""

from typing import Any

from django.db.models import OuterRef, Subquery

from audit.models import Retention
from identity.rest.filters import contains
from identity.rest.viewsets import CrudViewSet, Row
from identity.tenants import services
from identity.tenants.models import Tenant
from identity.tenants.serializers import TenantSerializer


class TenantsViewSet(CrudViewSet):
    """Tenants."""

    model = Tenant
    resource_name = "tenant"
    serializer_class = TenantSerializer
    columns = ("id", "slug", "name", "audit_retention_days", "created_at", "updated_at")
    filters = {"search": contains("name", "slug")}
    computed = {"audit_retention_days": Subquery(Retention.objects.filter(pk=OuterRef("pk")).values("days"))}

    def parse_id(self, text: str) -> str | None:
        """Return any text that can be stored, because the id ``default`` is not a UUID."""
        return None if "\0" in text else text

    def perform_create(self, fields: Row) -> str:
        """Create a tenant with its initial records."""
        return services.provision(**fields).pk

    def perform_update(self, row: Tenant, fields: Row, expected: frozenset[int] | None) -> None:
        """Change the name of a tenant or the retention of its audit log.

        A shorter retention needs a recent sign-in (``ADMIN_PROOF_SECONDS``).
        """
        caller: Any = self.request.user
        services.change(row, fields, expected=expected, is_proven=caller.has_signed_in_recently)

    def perform_destroy(self, row: Tenant, expected: frozenset[int] | None) -> None:
        """Delete a tenant with all its records."""
        services.remove(row, expected=expected)
