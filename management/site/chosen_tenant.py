"""The tenant that an administrator has chosen, which is stored in the session."""

from typing import Final

from django.db.models import QuerySet
from django.http import HttpRequest

from identity.tenants.models import Tenant
from management.administrators.models import Administrator

KEY: Final = "tenant"


def get_managed(administrator: Administrator) -> QuerySet[Tenant]:
    """Return the tenants that an administrator now manages."""
    tenants = Tenant.objects.all() if administrator.is_superuser else administrator.tenants.all()
    return tenants.order_by("name", "slug")


def current(request: HttpRequest) -> Tenant | None:
    """Return the chosen tenant, if the administrator still manages it.

    If the administrator manages only one tenant, it is chosen automatically.
    """
    managed = get_managed(request.user)  # type: ignore[arg-type]
    chosen = request.session.get(KEY)
    if chosen is not None and (tenant := managed.filter(pk=chosen).first()):
        return tenant
    first_two = list(managed[:2])
    if len(first_two) == 1:
        request.session[KEY] = first_two[0].pk
        return first_two[0]
    return None


def choose(request: HttpRequest, tenant_id: str) -> bool:
    """Choose a tenant for the session. Return false if the administrator does not manage it."""
    managed = get_managed(request.user)  # type: ignore[arg-type]
    if "\0" in tenant_id or not managed.filter(pk=tenant_id).exists():
        return False
    request.session[KEY] = tenant_id
    return True
