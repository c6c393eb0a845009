"""Callers of the management API over HTTP: administrators and machine applications.

Paths are those below ``/api/v1``: ``admin.get("/users")``.
"""

import atexit
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import httpx
from django.conf import settings

from identity.rest.input_errors import CODES
from management.administrators import services as administrators
from management.administrators.models import Administrator
from tests.support.cast import World
from tests.support.names import new_name

PASSWORD = "an administrator's own words"
MANAGEMENT_ROLE = "Service Management API access"


@cache
def connection() -> httpx.Client:
    """One pool of connections for all callers; it keeps no cookies that matter to them."""
    client = httpx.Client(timeout=30)
    atexit.register(client.close)
    return client


def result_of(answer: httpx.Response) -> Any:
    """Return the result of an answer, which must be a success."""
    assert answer.status_code == 200, f"{answer.request.method} {answer.request.url}: {answer.text}"
    envelope = answer.json()
    assert set(envelope) == {"code", "message", "result"}
    assert (envelope["code"], envelope["message"]) == (0, "success")
    return envelope["result"]


def check_members(envelope: dict[str, Any]) -> list[dict[str, Any]]:
    """The errors of a refusal's fields. Only answers about input have this fourth member."""
    assert set(envelope) - {"errors"} == {"code", "message", "result"}
    errors: list[dict[str, Any]] = envelope.get("errors", [])
    if "errors" in envelope:
        assert envelope["code"] == 400
        assert errors
    for error in errors:
        assert set(error) - {"allowed"} == {"field", "code", "message"}
        assert error["field"]
        assert error["message"]
        assert error["code"] in CODES, error
        assert error.get("allowed", ["one"])
    return errors


def refusal_of(answer: httpx.Response, code: int) -> str:
    """Return the message of an answer, which must be an envelope that refuses with this code."""
    assert answer.status_code == code, f"{answer.request.method} {answer.request.url}: {answer.text}"
    envelope = answer.json()
    check_members(envelope)
    assert (envelope["code"], envelope["result"]) == (code, "")
    message: str = envelope["message"]
    assert message
    return message


@dataclass(frozen=True)
class Caller:
    """A client with a token, at the ``/api/v1`` of one tenant."""

    world: World
    token: str | None
    headers: dict[str, str] = field(default_factory=dict)

    def at(self, world: World) -> "Caller":
        """The same caller, at another tenant."""
        return replace(self, world=world)

    def saying(self, **headers: str) -> "Caller":
        """Return the same caller with further headers: ``if_match`` is ``If-Match``."""
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers=self.headers | said)

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        credentials = {"Authorization": f"Bearer {self.token}"} if self.token is not None else {}
        headers = credentials | self.headers | options.pop("headers", {})
        return connection().request(method, f"{self.world.address}/api/v1{path}", headers=headers, **options)

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.request("GET", path, params=query or None)

    def post(self, path: str, /, **body: Any) -> httpx.Response:
        return self.request("POST", path, json=body)

    def patch(self, path: str, /, **body: Any) -> httpx.Response:
        return self.request("PATCH", path, json=body)

    def put(self, path: str, /, **body: Any) -> httpx.Response:
        return self.request("PUT", path, json=body)

    def delete(self, path: str) -> httpx.Response:
        return self.request("DELETE", path)

    def created(self, path: str, /, **body: Any) -> dict[str, Any]:
        """Create something, and return it."""
        row: dict[str, Any] = result_of(self.post(path, **body))
        return row


def administrator_token(username: str, password: str, base: str) -> str:
    """A token that is proof enough of who signed in: an old one removes no factors of users."""
    return _signed_in_lately(username, password, base, int(time.monotonic() // 200))


@cache
def _signed_in_lately(username: str, password: str, base: str, _: int) -> str:
    answer = connection().post(f"{base}/api/admin/sign-in", json={"username": username, "password": password})
    token: str = result_of(answer)["access_token"]
    return token


def superuser(world: World) -> Caller:
    """Return a client of a superuser. The token is shared, because a sign-in is slow."""
    return Caller(
        world, administrator_token(settings.ADMIN_USERNAME, settings.ADMIN_PASSWORD, settings.BASE_URL)
    )


def new_administrator(*worlds: World) -> Administrator:
    """An administrator of these tenants and no other."""
    return administrators.create(
        username=f"admin-{secrets.token_hex(4)}",
        password=PASSWORD,
        tenants=[world.tenant.slug for world in worlds],
    )


def administrator(world: World, *others: World) -> Caller:
    """A new administrator of a tenant (and of others), signed in."""
    row = new_administrator(world, *others)
    return Caller(world, administrator_token(row.username, PASSWORD, settings.BASE_URL))


@dataclass(frozen=True)
class Machine(Caller):
    """A machine application of the tenant, with the token it got."""

    id: str = ""
    client_id: str = ""
    secret: str = ""


def application_token(world: World, client_id: str, secret: str, **form: str) -> str:
    """The token of an application that asks for one in its own name."""
    answer = connection().post(
        f"{world.address}/oidc/token",
        data={"grant_type": "client_credentials"} | form,
        auth=(client_id, secret),
    )
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


def machine(world: World, *, roles: Iterable[str] | None = None, **form: str) -> Machine:
    """A new machine application with system roles (ids; by default the management role), and its token."""
    admin = superuser(world)
    made = admin.created("/applications", name=f"Robot {secrets.token_hex(4)}", type="MachineToMachine")
    held = [management_role(world)] if roles is None else list(roles)
    result_of(admin.put(f"/applications/{made['id']}/roles", role_ids=held))
    token = application_token(world, made["client_id"], made["client_secret"], **form)
    return Machine(world, token, id=made["id"], client_id=made["client_id"], secret=made["client_secret"])


def management_role(world: World) -> str:
    """Return the id of the management role, which every tenant has."""
    roles = result_of(superuser(world).get("/roles", page_size=100))["data"]
    return next(str(role["id"]) for role in roles if role["name"] == MANAGEMENT_ROLE)


def member_manager(world: World, organization: str, *, permission: str = "manage:organizations") -> Machine:
    """A machine application bound to an organization, whose role there holds a permission.

    Its token is one of that organization: it opens ``/m2m/organizations/{organization}/members``.
    """
    admin = superuser(world)
    made = admin.created("/applications", name=f"Robot {secrets.token_hex(4)}", type="MachineToMachine")
    role = admin.created(
        "/organization-roles", name=f"robots {secrets.token_hex(4)}", type="MachineToMachine"
    )
    held = _organization_permission(admin, permission)
    result_of(admin.put(f"/organization-roles/{role['id']}/scopes", scope_ids=[held]))
    result_of(admin.post(f"/organizations/{organization}/applications", application_ids=[made["id"]]))
    bound = f"/organizations/{organization}/applications/{made['id']}/roles"
    result_of(admin.put(bound, organization_role_ids=[role["id"]]))
    token = application_token(world, made["client_id"], made["client_secret"], organization_id=organization)
    return Machine(world, token, id=made["id"], client_id=made["client_id"], secret=made["client_secret"])


def _organization_permission(admin: Caller, name: str) -> str:
    there = result_of(admin.get("/organization-permissions", page_size=100))["data"]
    found = [str(row["id"]) for row in there if row["name"] == name]
    return found[0] if found else str(admin.created("/organization-permissions", name=name)["id"])


def new_user(admin: Caller, **fields: str) -> str:
    """Create a user, and return the id."""
    made = admin.created("/users", username=new_name("u"), password="sesame", **fields)
    return str(made["id"])


def new_resource(admin: Caller, **fields: bool) -> str:
    """Create an API resource, and return the id."""
    indicator = f"https://{new_name('api')}.example"
    return str(admin.created("/resources", name="API", indicator=indicator, **fields)["id"])
