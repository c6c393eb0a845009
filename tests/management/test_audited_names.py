"""The audit log names fields as the API does, never columns of a table."""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import httpx
import pytest

from audit.models import Entry
from tests.support import cast
from tests.support.management import result_of
from tests.support.management_routes import Route, all_routes
from tests.support.names import new_name
from tests.support.surface import Estate

# Bodies with fields that those of ``surface`` leave out, because columns follow from them.
FURTHER: Final[dict[str, dict[str, Any]]] = {
    "PATCH /users/:pk": {
        "email": "",
        "phone": "+4930123456",
        "profile": {"nickname": "A"},
        "given_name": "A",
    },
    "PATCH /applications/:pk": {"name": "Other", "oidc_client_metadata": {"contacts": ["a@x.org"]}},
    "PATCH /connectors/:pk": {"config": {"sign_name": "z"}, "enabled": True, "has_own_callback": True},
    "PATCH /oidc-settings": {"refresh_token_idle_seconds": 60, "session_absolute_seconds": 600},
    "PATCH /administrators/:pk": {"password": "open sesame!", "role": "auditor", "tenants": []},
    "PATCH /tenants/:pk": {"audit_retention_days": 400},
}
METADATA: Final = {
    "redirect_uris": ["https://a.example/"],
    "require_pkce": True,
    "refresh_token_idle_seconds": 60,
    "default_max_age": 60,
}


# Fields that only the operators' site has.
OF_THE_SITE: Final = {"language", "time_zone"}


@pytest.fixture(scope="module")
def public_names(address: str) -> set[str]:
    """All names of members in the OpenAPI document."""

    def find(part: Any) -> Iterator[str]:
        if isinstance(part, dict):
            yield from part.get("properties", {})
            part = list(part.values())
        for below in part if isinstance(part, list) else ():
            yield from find(below)

    return set(find(httpx.get(f"{address}/api/openapi.json").json()))


def send(estate: Estate, route: Route, body: dict[str, Any] | None) -> None:
    path = route.filled(estate.ids(route))
    result_of(estate.admin.request(route.method, path, **({"json": body} if body is not None else {})))


def named(entries: Iterable[Entry]) -> dict[str, set[str]]:
    """The names of fields in entries, by event."""
    found: dict[str, set[str]] = {}
    for entry in entries:
        payload = entry.payload
        names = {*payload.get("fields", ()), *payload.get("values", ()), *payload.get("before", ())}
        found.setdefault(entry.key, set()).update(name.partition(".")[0] for name in names)
    return found


def test_every_write_names_public_fields_only(address, public_names):
    estates = {"management": Estate(cast.new_world("Here")), "root": Estate(cast.default_world())}
    for route in all_routes():
        if route.method in {"GET", "DELETE"} or route.group not in estates:
            continue
        estate = estates[route.group]
        send(estate, route, estate.body(route) if route.takes_body else None)
        if str(route) in FURTHER:
            send(estate, route, FURTHER[str(route)])
    admin = estates["management"].admin
    role = estates["management"]["roles"]
    shop = admin.created(
        "/applications",
        name=new_name(),
        type="Traditional",
        oidc_client_metadata=METADATA | {"allowed_role_ids": [role]},
    )
    everybody: dict[str, list[str]] = {"allowed_role_ids": [], "allowed_organization_ids": []}
    result_of(admin.patch(f"/applications/{shop['id']}", oidc_client_metadata=METADATA | everybody))

    found = named(Entry.objects.filter(tenant_id__in=[estate.world.tenant.pk for estate in estates.values()]))

    known = public_names | OF_THE_SITE
    assert {key: names - known for key, names in found.items() if names - known} == {}
    updates = {key for key, names in found.items() if key.endswith(".Update") and names}
    assert {f"{thing}.Update" for thing in THINGS} <= updates


THINGS: Final = (
    *("User", "Role", "Resource", "Organization", "OrganizationRole", "OrganizationMember", "Application"),
    *("Connector", "OidcSettings", "SignInExperience", "Tenant", "Administrator"),
)
