"""The requests of ``bench scale``, with ids that ``bench fill`` created."""

import json
import math
import random
import secrets
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from bench.clients import basic
from bench.wire import get, send_json

_PASSWORD: Final = "correct-horse-battery"  # noqa: S105 - the default of fill
_CALLBACK: Final = "https://rp.example/callback"
_PAGE_SIZE: Final = 20
_MANY: Final = 1000

SeedData = dict[str, Any]


class AdminClient:
    """The first administrator, signed in to the management API."""

    def __init__(self, port: int, password: str) -> None:
        self.base = f"http://127.0.0.1:{port}"
        session = self.call("POST", "/api/admin/sign-in", {"username": "admin", "password": password})
        self.token: str = session["access_token"]

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Call the API and return the result."""
        request = urllib.request.Request(  # noqa: S310 - our own server
            f"{self.base}{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"} | headers,
        )
        if hasattr(self, "token"):
            request.add_header("Authorization", f"Bearer {self.token}")
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
            return json.load(answer)["result"]

    def read(self, path: str, **query: Any) -> Any:
        """Read from the management API."""
        return self.call("GET", f"/api/v1{path}?{urlencode(query)}")

    def replay(self, requests: list[bytes]) -> SeedData:
        """Return the seed data of clients that send these requests."""
        return {
            "prefix": "",
            "issuer": self.base,
            "machine": ["", ""],
            "web": ["", ""],
            "redirect_uri": _CALLBACK,
            "usernames": [f"user{n}" for n in range(64)],
            "password": _PASSWORD,
            "requests": [request.decode() for request in requests],
        }

    def list_requests(self, path: str, *queries: dict[str, Any]) -> SeedData:
        """Return the seed data of clients that read a list with these queries."""
        paths = [f"/api/v1{path}?{urlencode(query)}" for query in queries or ({},)]
        return self.replay([get(path, Authorization=f"Bearer {self.token}") for path in paths])


def rows(admin: AdminClient) -> Iterator[tuple[str, str, SeedData]]:
    """Yield title, workload and seed data of each row."""
    for resource in (_users, _entries, _organizations, _roles):
        for title, data in resource(admin):
            yield title, "replay", data
    yield "session context", "session-context", _sign_in_data(admin)


def _paged(admin: AdminClient, name: str, path: str) -> Iterator[tuple[str, SeedData]]:
    total = admin.read(path)["total"]
    last = max(1, math.ceil(total / _PAGE_SIZE))
    yield f"{name} ({total:,}), page 1", admin.list_requests(path)
    yield f"{name}, last page", admin.list_requests(path, {"page": last})
    yield (
        f"{name}, page in the middle",
        admin.list_requests(path, *({"page": max(1, last // 2 - n)} for n in range(5))),
    )


def _users(admin: AdminClient) -> Iterator[tuple[str, SeedData]]:
    yield from _paged(admin, "users", "/users")
    total = admin.read("/users")["total"]
    generator = random.Random(1)  # noqa: S311 - a sample
    names = [f"user{generator.randrange(total)}" for _ in range(200)]
    yield "users, search for one", admin.list_requests("/users", *({"search": name} for name in names))
    yield (
        "users, search by full name",
        admin.list_requests("/users", *({"search": name} for name in _names(admin))),
    )
    parts = [f"mail{n:03}" if total < _MANY else f"@mail{n}." for n in range(10, 90)]
    yield "users, search in addresses", admin.list_requests("/users", *({"search": part} for part in parts))
    one_in_a_hundred = [{"search": f"user{n}"} for n in range(10, 99)] if total > _MANY * 10 else [{}]
    yield "users, search that finds 1 in 100", admin.list_requests("/users", *one_in_a_hundred)
    yield (
        "users, suspended",
        admin.list_requests("/users", {"is_suspended": "true"}, {"is_suspended": "false"}),
    )


def _names(admin: AdminClient) -> list[str]:
    return [row["name"] for row in admin.read("/users", page_size=100)["data"]]


def _entries(admin: AdminClient) -> Iterator[tuple[str, SeedData]]:
    yield from _paged(admin, "audit log", "/logs")
    newest = admin.read("/logs", page_size=100, page=2)["data"]
    users = {row["user_id"] for row in newest if row["user_id"]}
    applications = [row["application_id"] for row in newest if row["application_id"]]
    yield "audit log of a user", admin.list_requests("/logs", *({"user_id": pk} for pk in users))
    yield (
        "audit log, rare events",
        admin.list_requests("/logs", {"key": "User.Create"}, {"key": "SigningKey.Rotate"}),
    )
    yield (
        "audit log of an application",
        admin.list_requests("/logs", *({"application_id": pk} for pk in applications)),
    )
    both = (
        {"application_id": pk, "key": key} for pk in applications for key in ("User.Create", "Token.Refresh")
    )
    yield "audit log, event of an application", admin.list_requests("/logs", *both)
    since = newest[0]["created_at"]
    yield "audit log, since some time", admin.list_requests("/logs", {"start_time": _days_before(since, 3)})


def _days_before(moment: str, days: int) -> str:
    return (datetime.fromisoformat(moment) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _organizations(admin: AdminClient) -> Iterator[tuple[str, SeedData]]:
    yield "organizations, page of 100", admin.list_requests("/organizations", {"page_size": 100})
    largest = _oldest(admin, "/organizations")[0]["id"]
    yield from _paged(admin, "members", f"/organizations/{largest}/users")
    (user,) = admin.read("/users", username="user0")["data"]
    yield from _paged(admin, "organizations of a user", f"/users/{user['id']}/organizations")
    yield "members, third-party API", _members(admin, largest)


def _oldest(admin: AdminClient, path: str, **query: str) -> list[dict[str, Any]]:
    """Return the last page of a list, the oldest row first: ``bench fill`` relates the most rows to it."""
    total = admin.read(path, **query)["total"]
    rows = admin.read(path, **query, page_size=100, page=max(1, math.ceil(total / 100)))["data"]
    return list(reversed(rows))


def _roles(admin: AdminClient) -> Iterator[tuple[str, SeedData]]:
    yield from _paged(admin, "roles", "/roles")
    role = _oldest(admin, "/roles", type="User")[0]["id"]
    yield "users of a role, all of them", admin.list_requests(f"/roles/{role}/users")
    yield "users of a role, 1,000 given", admin.replay(_assignments(admin))


def _assignments(admin: AdminClient) -> list[bytes]:
    pages = [admin.read("/users", page_size=100, page=page)["data"] for page in range(1, 21)]
    ids = [row["id"] for page in pages for row in page]
    created = admin.call("POST", "/api/v1/roles", {"name": f"bench {secrets.token_hex(4)}", "type": "User"})
    return [
        send_json(
            "PUT",
            f"/api/v1/roles/{created['id']}/users",
            json.dumps({"user_ids": chunk}).encode(),
            Authorization=f"Bearer {admin.token}",
        )
        for chunk in (ids[:_MANY], ids[_MANY:])
    ]


def _members(admin: AdminClient, organization: str) -> SeedData:
    """Return the seed data of an application that may list the members of the organization."""
    name = f"bench {secrets.token_hex(4)}"
    machine = admin.call("POST", "/api/v1/applications", {"name": name, "type": "MachineToMachine"})
    role = admin.call("POST", "/api/v1/organization-roles", {"name": name, "type": "MachineToMachine"})
    permission = "manage:organizations"
    permissions = [
        row for row in admin.read("/organization-permissions")["data"] if row["name"] == permission
    ]
    permissions = permissions or [
        admin.call("POST", "/api/v1/organization-permissions", {"name": permission})
    ]
    admin.call(
        "PUT", f"/api/v1/organization-roles/{role['id']}/scopes", {"scope_ids": [permissions[0]["id"]]}
    )
    path = f"/api/v1/organizations/{organization}/applications"
    admin.call("POST", path, {"application_ids": [machine["id"]]})
    admin.call("PUT", f"{path}/{machine['id']}/roles", {"organization_role_ids": [role["id"]]})
    token = _machine_token(admin, machine, organization)
    return admin.replay(
        [get(f"/api/v1/m2m/organizations/{organization}/members", Authorization=f"Bearer {token}")]
    )


def _machine_token(admin: AdminClient, machine: dict[str, Any], organization: str) -> str:
    form = {"grant_type": "client_credentials", "organization_id": organization}
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{admin.base}/oidc/token",
        data=urlencode(form).encode(),
        headers={"Authorization": basic((machine["client_id"], machine["client_secret"]))},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return str(json.load(answer)["access_token"])


def _sign_in_data(admin: AdminClient) -> SeedData:
    """Return seed data of an application that can sign users in."""
    name = f"bench {secrets.token_hex(4)}"
    metadata = {"redirect_uris": [_CALLBACK]}
    form = {"name": name, "type": "Traditional", "oidc_client_metadata": metadata}
    web = admin.call("POST", "/api/v1/applications", form)
    data = admin.replay([])
    return data | {"web": [web["client_id"], web["client_secret"]], "usernames": data["usernames"][1:]}
