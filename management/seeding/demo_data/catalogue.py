"""The made-up applications of a tenant, its API, its roles and its connectors."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from audit.events import Event
from identity.core import assignments, records
from identity.core.proof import NO_ADMINISTRATOR
from identity.factors.levels import ACR, Level
from identity.resources import services as resources
from identity.resources.models import Resource, Scope
from identity.roles import services as roles
from identity.roles.models import Role
from identity.users.models import User
from oidc.applications import bindings
from oidc.applications import services as applications
from oidc.applications.models import Application

_API: Final = "https://api.northwind.example/orders"
_AGES: Final = (340, 280, 190, 90, 30)  # days
_APPLICATIONS: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "Northwind Shop",
        "type": "Traditional",
        "description": "The online shop.",
        "redirect_uris": ["https://shop.northwind.example/callback"],
        "post_logout_redirect_uris": ["https://shop.northwind.example/"],
    },
    {
        "name": "Northwind Console",
        "type": "SPA",
        "description": "Orders and stock, for employees, who need two factors.",
        "required_acr": ACR[Level.TWO],
        "redirect_uris": ["https://console.northwind.example/callback"],
        "post_logout_redirect_uris": ["https://console.northwind.example/"],
    },
    {
        "name": "Northwind Mobile",
        "type": "Native",
        "description": "The application for phones.",
        "redirect_uris": ["com.northwind.mobile:/callback"],
    },
    {
        "name": "Parcel Tracker",
        "type": "Traditional",
        "description": "A partner's application, which needs the consent of users.",
        "redirect_uris": ["https://parcels.example/callback"],
        "is_third_party": True,
    },
    {"name": "Order sync", "type": "MachineToMachine", "description": "Copies orders to the warehouse."},
)
_SCOPES: Final = {"read:orders": "See orders", "write:orders": "Change orders"}
# The type, the scopes, and of how many users one has the role.
_ROLES: Final[dict[str, tuple[str, tuple[str, ...], int]]] = {
    "Customer service": ("User", ("read:orders",), 3),
    "Order manager": ("User", ("read:orders", "write:orders"), 8),
    "Warehouse": ("MachineToMachine", ("read:orders", "write:orders"), 0),
}


@transaction.atomic
def create(people: Mapping[int, User]) -> dict[str, int]:
    """Create what is missing, and return how many of each."""
    made = {"applications": _create_applications(), "roles": 0, "connectors": 0}
    if not Resource.objects.filter(indicator=_API).exists():
        resource = resources.create(name="Orders", indicator=_API)
        for name, description in _SCOPES.items():
            resources.add_scope(resource.pk, name=name, description=description)
    for name in _ROLES:
        if not Role.objects.filter(name=name).exists():
            _create_role(name, people)
            made["roles"] += 1
    for create_some in settings.DEMO_DATA:
        for kind, number in import_string(create_some)().items():
            made[kind] = made.get(kind, 0) + number
    return made


def get_applications() -> list[Application]:
    """Return the made-up applications that users sign in to."""
    names = [fields["name"] for fields in _APPLICATIONS if fields["type"] != "MachineToMachine"]
    return list(Application.objects.filter(name__in=names).order_by("name"))


def get_machine() -> Application | None:
    """Return the made-up machine."""
    return Application.objects.filter(name=_APPLICATIONS[-1]["name"]).first()


def _create_applications() -> int:
    known = set(Application.objects.values_list("name", flat=True))
    missing = [
        (fields, age) for fields, age in zip(_APPLICATIONS, _AGES, strict=True) if fields["name"] not in known
    ]
    for fields, age in missing:
        application, _secret = applications.register(**fields)
        then = timezone.now() - timedelta(days=age)
        Application.objects.filter(pk=application.pk).update(created_at=then)
    return len(missing)


def _create_role(name: str, people: Mapping[int, User]) -> None:
    type_, scopes, one_of = _ROLES[name]
    role = Role(name=name, type=type_, description=f"Made up: {' '.join(scopes)}")
    records.create(role, event=Event.ROLE_CREATE, name=name)
    scope_ids = Scope.objects.filter(resource__indicator=_API, name__in=scopes).values_list("pk", flat=True)
    assignments.replace(roles.SCOPES, role.pk, [str(pk) for pk in scope_ids], is_proven=NO_ADMINISTRATOR)
    if type_ == Role.Type.USER:
        chosen = [str(user.pk) for number, user in people.items() if number % one_of == 0]
        assignments.replace(roles.USERS, role.pk, chosen, is_proven=NO_ADMINISTRATOR)
    elif machine := get_machine():
        assignments.replace(bindings.ROLES, machine.pk, [str(role.pk)], is_proven=NO_ADMINISTRATOR)
