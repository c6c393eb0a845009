"""Creating, changing and deleting resources and scopes, and the resource of the management API."""

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils.module_loading import import_string
from django.utils.translation import gettext_noop

from audit.events import Event
from identity.core import proof, records, tenancy
from identity.core.errors import Invalid, ServiceError
from identity.core.records import Protected
from identity.resources.models import Resource, Scope
from identity.tenants.models import Tenant

ALL: Final = "all"
MANAGE_ORGANIZATIONS: Final = "manage:organizations"
UNKNOWN_ACR: Final = gettext_noop("must be a value of acr, or one of acr_aliases")


class NoSuchResource(ServiceError):
    """The resource is unknown in this tenant."""

    status = 404
    reason = "resource_not_found"
    message = gettext_noop("resource not found")


def management_indicator(tenant_id: str) -> str:
    """Return the indicator of a tenant's management API."""
    return f"urn:service:management-api:{tenant_id}"


def provision() -> None:
    """Create the resource and the scopes of a new tenant's management API."""
    resource = Resource.objects.create(
        name="Management API",
        indicator=management_indicator(tenancy.active_id()),
        is_protected=True,
    )
    for name, description in (
        (ALL, "Everything the management API can do"),
        (MANAGE_ORGANIZATIONS, "Members of an organization"),
    ):
        Scope.objects.create(resource=resource, name=name, description=description, is_protected=True)


def create(**fields: Any) -> Resource:
    """Create a resource. A new default resource replaces the current one.

    If the resource's algorithm has no key, the first key is created.

    Raises:
        Invalid: another resource has the indicator, or the tenant does not know ``required_acr``.

    """
    return _create(fields, _generate_key(fields))


def _generate_key(fields: Mapping[str, Any]) -> Any:
    """Return an unsaved key of the algorithm that a resource names, if the algorithm has none.

    It is stored after ``_hold_acr``, because the caller may have opened the transaction, as the console does.
    """
    algorithm = fields.get("access_token_signing_alg")
    return import_string(settings.GENERATE_SIGNING_KEY)(algorithm) if algorithm else None


def _hold_key(fields: Mapping[str, Any], new_key: Any) -> None:
    """Keep the algorithm that a resource names from being retired until the transaction ends."""
    if algorithm := fields.get("access_token_signing_alg"):
        import_string(settings.HOLD_SIGNING_KEY)(algorithm, new_key)


def _hold_acr(fields: Mapping[str, Any], resource: Resource | None = None) -> None:
    """Keep the alias that a resource is about to require from being removed until the transaction ends.

    A resource may keep an alias that the tenant removed earlier.

    Raises:
        Invalid: the tenant removed the alias concurrently.

    """
    required = fields.get("required_acr")
    if not required or import_string(settings.HOLD_ACR_VALUE)(required):
        return
    if resource is None or not Resource.objects.filter(pk=resource.pk, required_acr=required).exists():
        raise Invalid("required_acr", UNKNOWN_ACR, code="unknown")


@transaction.atomic
def _create(fields: Mapping[str, Any], new_key: Any) -> Resource:
    _hold_acr(fields)
    _hold_key(fields, new_key)
    resource = Resource(**fields)
    if resource.is_default:
        _unset_other_defaults(resource)
    records.create(resource, event=Event.RESOURCE_CREATE, name=resource.name)
    return resource


def _unset_other_defaults(resource: Resource) -> None:
    """Unset ``is_default`` of other resources. The lock on the tenant serializes changes of the default."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenancy.active_id())
    others = Resource.objects.filter(is_default=True).exclude(pk=resource.pk)
    others.update(is_default=False, version=F("version") + 1)


def change(
    resource: Resource,
    fields: dict[str, object],
    *,
    expected: frozenset[int] | None,
    is_proven: bool,
) -> None:
    """Change a resource. A new default resource replaces the current one.

    If the resource's algorithm has no key, the first key is created. ``is_proven`` is whether the
    administrator who makes the change has signed in recently.

    Raises:
        proof.TokenTooOld: ``required_acr`` would be replaced or removed, and ``is_proven`` is false.
        Invalid: the tenant does not know ``required_acr``.
        Protected: the resource is the management API, whose name cannot be changed.
        records.Stale: the resource was changed since the caller read it.

    """
    if resource.is_protected and fields.get("name", resource.name) != resource.name:
        raise Protected
    _change(resource, fields, expected, _generate_key(fields), is_proven=is_proven)


@transaction.atomic
def _change(
    resource: Resource,
    fields: dict[str, object],
    expected: frozenset[int] | None,
    new_key: Any,
    *,
    is_proven: bool,
) -> None:
    _hold_acr(fields, resource)
    _hold_key(fields, new_key)
    if fields.get("is_default"):
        _unset_other_defaults(resource)
    proof.check_required_of_sign_ins(resource, "required_acr", fields, expected, is_proven=is_proven)
    records.change(resource, fields, event=Event.RESOURCE_UPDATE, expected=expected)


@transaction.atomic
def add_scope(resource_id: UUID, **fields: Any) -> Scope:
    """Add a scope to a resource.

    Raises:
        NoSuchResource: the resource is unknown, or was deleted meanwhile.
        Invalid: the resource has a scope with that name.

    """
    if not records.increment_version(Resource, resource_id, None):
        raise NoSuchResource
    scope = Scope(resource_id=resource_id, **fields)
    records.create(scope, event=Event.SCOPE_CREATE, name=scope.name, resource_id=resource_id)
    return scope


def remove(resource: Resource, *, expected: frozenset[int] | None, is_proven: bool) -> None:
    """Delete a resource and its scopes. Roles lose these scopes.

    ``is_proven`` is whether the administrator who deletes it has signed in recently. Without a proof, a
    resource with the same indicator could be created again without ``required_acr``.

    Raises:
        proof.TokenTooOld: the resource has a ``required_acr``, and ``is_proven`` is false.
        Protected: the resource is the management API.
        records.Stale: the resource was changed since the caller read it.

    """
    if resource.is_protected:
        raise Protected
    removed = {"required_acr": ""}
    # A deletion that is tried again (``records.remove``) needs a transaction of its own.
    with nullcontext() if is_proven else transaction.atomic():
        proof.check_required_of_sign_ins(resource, "required_acr", removed, expected, is_proven=is_proven)
        records.remove(resource, event=Event.RESOURCE_DELETE, expected=expected, name=resource.name)


@transaction.atomic
def remove_scope(scope: Scope, *, expected: frozenset[int] | None) -> None:
    """Delete a scope. Roles lose it.

    Raises:
        Protected: the scope is a built-in one of the management API.
        records.Stale: the scope was changed since the caller read it.

    """
    if scope.is_protected:
        raise Protected
    records.increment_version(Resource, scope.resource_id, None)
    records.remove(scope, event=Event.SCOPE_DELETE, expected=expected, name=scope.name)
