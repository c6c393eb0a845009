"""What ``scale.py`` asks for: the requests of each row, with ids of what ``fill.py`` made."""

import base64
import json
import math
import random
import secrets
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import urlencode

from wire import get, put_json

_PASSWORD: Final = "correct-horse-battery"  # noqa: S105 - fill.py's own
_CALLBACK: Final = "https://rp.example/callback"
_SIZE: Final = 20
_MANY: Final = 1000

World = dict[str, Any]


class Caller:
    """The first administrator, who calls the API."""

    def __init__(self, port: int, password: str) -> None:
        self.base = f"http://127.0.0.1:{port}"
        signed_in = self.call("POST", "/api/admin/sign-in", {"username": "admin", "password": password})
        self.token: str = signed_in["access_token"]

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

    def world(self, requests: list[bytes]) -> World:
        """Return what clients have to know who send these requests."""
        return {
            "prefix": "",
            "issuer": self.base,
            "machine": ["", ""],
            "web": ["", ""],
            "redirect_uri": _CALLBACK,
            "usernames": [f"user{n}" for n in range(64)],
            "password": _PASSWORD,
            "given": [request.decode() for request in requests],
        }

    def gets(self, path: str, *queries: dict[str, Any]) -> World:
        """Return what clients have to know who read a list by these queries."""
        paths = [f"/api/v1{path}?{urlencode(query)}" for query in queries or ({},)]
        return self.world([get(path, Authorization=f"Bearer {self.token}") for path in paths])


def rows(caller: Caller) -> Iterator[tuple[str, str, World]]:
    """Yield title, kind of client and world of each row that there are enough rows for."""
    yield from (
        (title, "given", world)
        for part in (_users, _entries, _organizations, _roles)
        for title, world in part(caller)
    )
    yield "session context", "session-context", _signing_in(caller)


def _paged(caller: Caller, name: str, path: str) -> Iterator[tuple[str, World]]:
    total = caller.read(path)["total"]
    last = max(1, math.ceil(total / _SIZE))
    yield f"{name} ({total:,}), page 1", caller.gets(path)
    yield f"{name}, last page", caller.gets(path, {"page": last})
    yield (
        f"{name}, page in the middle",
        caller.gets(path, *({"page": max(1, last // 2 - n)} for n in range(5))),
    )


def _users(caller: Caller) -> Iterator[tuple[str, World]]:
    yield from _paged(caller, "users", "/users")
    total = caller.read("/users")["total"]
    chance = random.Random(1)  # noqa: S311 - a sample
    some = [f"user{chance.randrange(total)}" for _ in range(200)]
    yield "users, search for one", caller.gets("/users", *({"search": name} for name in some))
    yield "users, search by full name", caller.gets("/users", *({"search": name} for name in _names(caller)))
    parts = [f"mail{n:03}" if total < _MANY else f"@mail{n}." for n in range(10, 90)]
    yield "users, search in addresses", caller.gets("/users", *({"search": part} for part in parts))
    one_in_a_hundred = [{"search": f"user{n}"} for n in range(10, 99) if total > _MANY * 10] or [{}]
    yield "users, search that finds 1 in 100", caller.gets("/users", *one_in_a_hundred)
    yield "users, suspended", caller.gets("/users", {"is_suspended": "true"}, {"is_suspended": "false"})


def _names(caller: Caller) -> list[str]:
    return [row["name"] for row in caller.read("/users", page_size=100)["data"]]


def _entries(caller: Caller) -> Iterator[tuple[str, World]]:
    yield from _paged(caller, "audit log", "/logs")
    newest = caller.read("/logs", page_size=100, page=2)["data"]
    users = {row["user_id"] for row in newest if row["user_id"]}
    applications = [row["application_id"] for row in newest if row["application_id"]]
    yield "audit log of a user", caller.gets("/logs", *({"user_id": pk} for pk in users))
    yield "audit log, rare events", caller.gets("/logs", {"key": "User.Create"}, {"key": "SigningKey.Rotate"})
    yield (
        "audit log of an application",
        caller.gets("/logs", *({"application_id": pk} for pk in applications)),
    )
    both = (
        {"application_id": pk, "key": key} for pk in applications for key in ("User.Create", "Token.Refresh")
    )
    yield "audit log, event of an application", caller.gets("/logs", *both)
    since = newest[0]["created_at"]
    yield "audit log, since some time", caller.gets("/logs", {"start_time": _days_before(since, 3)})


def _days_before(moment: str, days: int) -> str:
    return (datetime.fromisoformat(moment) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _organizations(caller: Caller) -> Iterator[tuple[str, World]]:
    yield "organizations, page of 100", caller.gets("/organizations", {"page_size": 100})
    largest = _oldest(caller, "/organizations")[0]["id"]
    yield from _paged(caller, "members", f"/organizations/{largest}/users")
    (user,) = caller.read("/users", username="user0")["data"]
    yield from _paged(caller, "organizations of a user", f"/users/{user['id']}/organizations")
    yield "members, third-party API", _members(caller, largest)


def _oldest(caller: Caller, path: str, **query: str) -> list[dict[str, Any]]:
    """Return the last rows of a list, the oldest first: those that ``fill.py`` gave the most."""
    total = caller.read(path, **query)["total"]
    rows = caller.read(path, **query, page_size=100, page=max(1, math.ceil(total / 100)))["data"]
    return list(reversed(rows))


def _roles(caller: Caller) -> Iterator[tuple[str, World]]:
    yield from _paged(caller, "roles", "/roles")
    role = _oldest(caller, "/roles", type="User")[0]["id"]
    yield "users of a role, all of them", caller.gets(f"/roles/{role}/users")
    yield "users of a role, 1,000 given", caller.world(_assignments(caller))


def _assignments(caller: Caller) -> list[bytes]:
    pages = [caller.read("/users", page_size=100, page=page)["data"] for page in range(1, 21)]
    ids = [row["id"] for page in pages for row in page]
    made = caller.call("POST", "/api/v1/roles", {"name": f"bench {secrets.token_hex(4)}", "type": "User"})
    return [
        put_json(
            f"/api/v1/roles/{made['id']}/users",
            json.dumps({"user_ids": some}).encode(),
            Authorization=f"Bearer {caller.token}",
        )
        for some in (ids[:_MANY], ids[_MANY:])
    ]


def _members(caller: Caller, organization: str) -> World:
    """Return what a third party needs: an application whose role in the organization may list members."""
    name = f"bench {secrets.token_hex(4)}"
    machine = caller.call("POST", "/api/v1/applications", {"name": name, "type": "MachineToMachine"})
    role = caller.call("POST", "/api/v1/organization-roles", {"name": name, "type": "MachineToMachine"})
    permission = "manage:organizations"
    held = [row for row in caller.read("/organization-permissions")["data"] if row["name"] == permission]
    held = held or [caller.call("POST", "/api/v1/organization-permissions", {"name": permission})]
    caller.call("PUT", f"/api/v1/organization-roles/{role['id']}/scopes", {"scope_ids": [held[0]["id"]]})
    place = f"/api/v1/organizations/{organization}/applications"
    caller.call("POST", place, {"application_ids": [machine["id"]]})
    caller.call("PUT", f"{place}/{machine['id']}/roles", {"organization_role_ids": [role["id"]]})
    token = _machine_token(caller, machine, organization)
    return caller.world(
        [get(f"/api/v1/m2m/organizations/{organization}/members", Authorization=f"Bearer {token}")]
    )


def _machine_token(caller: Caller, machine: dict[str, Any], organization: str) -> str:
    form = {"grant_type": "client_credentials", "organization_id": organization}
    both = f"{machine['client_id']}:{machine['client_secret']}"
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{caller.base}/oidc/token",
        data=urlencode(form).encode(),
        headers={"Authorization": f"Basic {base64.b64encode(both.encode()).decode()}"},
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310 - as above
        return str(json.load(answer)["access_token"])


def _signing_in(caller: Caller) -> World:
    """Return what it takes to sign users in."""
    name = f"bench {secrets.token_hex(4)}"
    settings = {"redirect_uris": [_CALLBACK]}
    made = {"name": name, "type": "Traditional", "oidc_client_metadata": settings}
    web = caller.call("POST", "/api/v1/applications", made)
    world = caller.world([])
    return world | {"web": [web["client_id"], web["client_secret"]], "usernames": world["usernames"][1:]}
