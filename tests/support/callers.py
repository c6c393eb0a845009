"""A caller of each kind that the API has, created over HTTP in an empty tenant."""

import secrets
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import httpx

from tests.support import cast

ACCESS = "Service Management API access"


@dataclass(frozen=True)
class Callers:
    """A token for each kind of caller."""

    administrator: str
    machine: str
    organization: str
    user: str
    client: tuple[str, str]
    organization_id: str
    previous_key_id: str
    shop_id: str

    def environment(self) -> dict[str, str]:
        """Return all values as environment variables."""
        return {
            "ADMINISTRATOR_TOKEN": self.administrator,
            "MACHINE_TOKEN": self.machine,
            "ORGANIZATION_TOKEN": self.organization,
            "USER_TOKEN": self.user,
            "CLIENT_ID": self.client[0],
            "CLIENT_SECRET": self.client[1],
            "ORGANIZATION_ID": self.organization_id,
            "PREVIOUS_KEY_ID": self.previous_key_id,
            "SHOP_ID": self.shop_id,
            "SHOP_CALLBACK": cast.CALLBACK,
        }


class Api:
    """The management API, as an administrator sees it."""

    def __init__(self, address: str, username: str, password: str) -> None:
        self.address = address
        credentials = {"username": username, "password": password}
        answer = httpx.post(f"{address}/api/admin/sign-in", json=credentials)
        self.token = answer.json()["result"]["access_token"]

    def __call__(self, method: str, path: str, **body: Any) -> Any:
        answer = httpx.request(
            method,
            f"{self.address}/api/v1{path}",
            json=body or None,
            headers={"Authorization": f"Bearer {self.token}"},
        )
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]


def spares(api: Api, organization_id: str) -> dict[str, dict[str, str]]:
    """Make one row of each kind that nothing else depends on. Return the ids of paths that lead to it."""
    mark = secrets.token_hex(4)
    bodies: dict[str, dict[str, Any]] = {
        "users": {"username": f"u-{mark}", "password": cast.PASSWORD},
        "roles": {"name": mark, "type": "User"},
        "resources": {"name": mark, "indicator": f"https://{mark}.example"},
        "organizations": {"name": mark},
        "organization-roles": {"name": mark},
        "organization-permissions": {"name": f"read:{mark}"},
        "applications": {"name": mark, "type": "MachineToMachine"},
        "connectors": {"connector_id": "outbox-email", "type": "Email", "config": {}},
        "tenants": {"slug": f"t-{mark}", "name": mark},
        "administrators": {"username": f"a-{mark}", "password": cast.PASSWORD},
    }
    made = {kind: str(api("POST", f"/{kind}", **body)["id"]) for kind, body in bodies.items()}
    made["logs"] = api("GET", "/logs")["data"][0]["id"]
    resource = api("POST", "/resources", name=mark, indicator=f"https://{mark}.example/scoped")["id"]
    scope = api("POST", f"/resources/{resource}/scopes", name=f"read:{mark}")["id"]
    member, seen_by_machines = (
        api("POST", "/users", username=f"{letter}-{mark}", password=cast.PASSWORD)["id"] for letter in "mn"
    )
    api("POST", f"/organizations/{organization_id}/users", user_ids=[member, seen_by_machines])
    bound = api("POST", "/applications", name=mark, type="MachineToMachine")["id"]
    api("POST", f"/organizations/{organization_id}/applications", application_ids=[bound])
    nested = {
        "resources/{resource_id}": {"resource_id": resource},
        "resources/{resource_id}/scopes/{id}": {"resource_id": resource, "id": scope},
        "organizations/{id}/users/{user_id}": {"id": organization_id, "user_id": member},
        "organizations/{id}/applications/{application_id}": {"id": organization_id, "application_id": bound},
        "m2m/organizations/{organization_id}/members/{user_id}": {
            "organization_id": organization_id,
            "user_id": seen_by_machines,
        },
    }
    # The most special first: of two rules for a path, the first counts.
    return dict(reversed(nested.items())) | {f"{kind}/{{id}}": {"id": pk} for kind, pk in made.items()}


def assemble(api: Api) -> Callers:
    address = api.address
    first_key = api("GET", "/signing-keys")[0]["id"]
    api("POST", "/signing-keys/rotate")
    access = next(role for role in api("GET", "/roles")["data"] if role["name"] == ACCESS)
    machine = api("POST", "/applications", name="Machine", type="MachineToMachine")
    api("PUT", f"/applications/{machine['id']}/roles", role_ids=[access["id"]])
    organization = api("POST", "/organizations", name="Organization")["id"]
    permission = api("POST", "/organization-permissions", name="manage:organizations")
    manager = api("POST", "/organization-roles", name="Manager", type="MachineToMachine")
    api("PUT", f"/organization-roles/{manager['id']}/scopes", scope_ids=[permission["id"]])
    api("POST", f"/organizations/{organization}/applications", application_ids=[machine["id"]])
    bound = f"/organizations/{organization}/applications/{machine['id']}/roles"
    api("PUT", bound, organization_role_ids=[manager["id"]])
    client = (machine["client_id"], machine["client_secret"])
    shop = api(
        "POST",
        "/applications",
        name="Shop",
        type="Traditional",
        oidc_client_metadata={"redirect_uris": [cast.CALLBACK]},
    )
    return Callers(
        administrator=api.token,
        machine=_machine_token(address, client),
        organization=_machine_token(address, client, organization_id=organization),
        user=_user_token(api, shop),
        client=client,
        organization_id=organization,
        previous_key_id=first_key,
        shop_id=shop["client_id"],
    )


def _machine_token(address: str, client: tuple[str, str], **form: str) -> str:
    answer = httpx.post(
        f"{address}/oidc/token", auth=client, data={"grant_type": "client_credentials"} | form
    )
    return str(answer.json()["access_token"])


def _user_token(api: Api, shop: dict[str, str]) -> str:
    user = api("POST", "/users", username=f"u-{secrets.token_hex(4)}", password=cast.PASSWORD)
    world = cast.World(None, api.address)  # type: ignore[arg-type]  # seen from outside, by its address
    application = SimpleNamespace(client_id=shop["client_id"], redirect_uris=[cast.CALLBACK])
    client = cast.RelyingParty(world, application, shop["client_secret"])  # type: ignore[arg-type]
    code = world.browser().code_for(client, SimpleNamespace(username=user["username"]))  # type: ignore[arg-type]
    return str(client.redeem(code).json()["access_token"])
