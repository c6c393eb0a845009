"""Lists that are long: pages from both ends, searches, and the plans that PostgreSQL makes for them."""

import json
import secrets
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from identity.organizations.models import Membership, Organization
from identity.rest import pagination
from identity.roles.models import Role, UserRole
from identity.users.models import User
from tests.support import cast, management
from tests.support.cast import World
from tests.support.independent import bearer
from tests.support.management import result_of

ROWS: Final = 43
MANY: Final = 20_000


class Reader:
    """The superuser, in the test's own process: what is asked of the database can be seen."""

    def __init__(self, world: World, token: str | None = None) -> None:
        self.prefix = f"{world.tenant.to_active().prefix}/api/v1"
        self.token = token or management.superuser(world).token or ""

    def result(self, path: str, **query: Any) -> Any:
        answer = Client().get(f"{self.prefix}{path}", query, headers=bearer(self.token))
        assert answer.status_code == 200, answer.content
        return json.loads(answer.content)["result"]

    def page(self, path: str, **query: Any) -> dict[str, Any]:
        result: dict[str, Any] = self.result(path, **query)
        return result if "data" in result else result | {"data": result["result"]}


def named(number: int, apart: timedelta = timedelta(minutes=1)) -> User:
    name = f"person{number:05}"
    return User(
        username=name,
        username_key=name,
        search_text=f"{name}\n{secrets.token_hex(8)}@example.com\n\n",
        created_at=timezone.now() - number * apart,
        is_suspended=number % 200 == 0,
    )


# ── Pages ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def estate(address: str) -> tuple[World, dict[str, str]]:
    """A tenant with lists of some length, and where they are."""
    world = cast.new_world("Long")
    with world.active():
        people = User.objects.bulk_create(named(number, timedelta(hours=7)) for number in range(ROWS))
        organization = Organization.objects.create(name="All of them")
        Membership.objects.bulk_create(Membership(organization=organization, user=user) for user in people)
    Entry.objects.bulk_create(
        Entry(tenant_id=world.tenant.pk, key="Some.Thing", ip="", user_agent="", request_id="")
        for _ in range(ROWS)
    )
    paths = {
        "users": "/users",
        "search": "/users?search=person0",
        "log": "/logs",
        "events": "/logs?key=Some.Thing",
        "members": f"/organizations/{organization.pk}/users",
        "members of third parties": f"/m2m/organizations/{organization.pk}/members",
        "some of third parties": f"/m2m/organizations/{organization.pk}/members?is_admin=false",
    }
    return world, paths


@pytest.mark.parametrize("far", [2, 100])
@pytest.mark.parametrize("size", [1, 10, ROWS - 1, 100])
@pytest.mark.parametrize(
    "name",
    ["users", "search", "log", "events", "members", "members of third parties", "some of third parties"],
)
def test_pages_from_both_ends_are_parts_of_one_list(estate, monkeypatch, name, size, far):
    world, paths = estate
    monkeypatch.setattr(pagination, "_FAR", far)
    monkeypatch.setattr(pagination, "_VERY_FAR", far)
    path, _, query = paths[name].partition("?")
    given = dict([query.split("=")]) if query else {}
    token = None
    if path.startswith("/m2m/"):
        token = management.member_manager(world, path.split("/")[3]).token
    reader = Reader(world, token)
    whole = reader.page(path, page_size=100, **given)
    total = whole["total"]
    assert total == len(whole["data"]) >= ROWS
    last = -(-total // size)

    for page in {1, 2, last // 2, last // 2 + 1, last - 1, last, last + 1} - {0, -1}:
        found = reader.page(path, page=page, page_size=size, **given)
        assert found["total"] == total
        assert found["data"] == whole["data"][(page - 1) * size : page * size]


def test_a_search_tells_how_many_it_finds(acme):
    admin = management.superuser(acme)
    with acme.active():
        User.objects.bulk_create(named(number) for number in range(120))

    for text, number in (("person0", 120), ("son0001", 10), ("00007", 1), ("nobody", 0)):
        assert result_of(admin.get("/users", search=text))["total"] == number
        beyond = result_of(admin.get("/users", search=text, page=9, page_size=100))
        assert (beyond["total"], beyond["data"]) == (number, [])
    both = result_of(admin.get("/users", search="person0", is_suspended="true"))
    assert (both["total"], [row["username"] for row in both["data"]]) == (1, ["person00000"])


# ── Plans ───────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def crowded(address: str) -> World:
    """A tenant of twenty thousand users, with as many entries, beside another."""
    worlds = {cast.new_world("Crowded"): MANY, cast.new_world("Neighbour"): MANY // 10}
    for world, many in worlds.items():
        with world.active():
            User.objects.bulk_create((named(number) for number in range(many)), batch_size=1000)
            person = str(User.objects.values_list("pk", flat=True)[0])
        now = timezone.now()
        Entry.objects.bulk_create(
            (
                Entry(
                    tenant_id=world.tenant.pk,
                    key="Rare.Thing" if number % 500 == 0 else f"Some.Thing{number % 5}",
                    user_id=person if number % 1000 == 0 else secrets.token_hex(16),
                    application_id=f"application {number % 200}",
                    identifier_key=f"{number % 3000}" if number % 3 else None,
                    payload={"id": secrets.token_hex(16)} if number % 4 == 0 else {},
                    ip="",
                    user_agent="",
                    request_id="",
                    created_at=now - timedelta(minutes=number),
                )
                for number in range(many)
            ),
            batch_size=1000,
        )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE users_user")
        cursor.execute("VACUUM ANALYZE audit_entry")
    return next(iter(worlds))


def ago(minutes: int) -> str:
    """A time of which only this crowd has entries."""
    return (timezone.now() - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


LAST: Final = MANY // 20
OF_SOMEBODY: Final = {"user_id": "of somebody"}  # who has twenty entries
NOTHING: Final = [
    {"search": "no such person"},
    {"who": "person01234"},  # a user without entries
    {"who": "nobody"},
    {"who": "01a1fc8a-cc5f-7278-9dc4-aeb7d6906a41"},
]
QUERIES: Final = [
    ("/users", {}),
    ("/users", {"page": LAST}),
    ("/users", {"page": LAST // 2}),
    ("/users", {"search": "person0123"}),
    ("/users", {"search": "no such person"}),
    ("/users", {"search": "rson123", "page": 2, "page_size": 5}),
    ("/users", {"username": "person01234"}),
    ("/users", {"is_suspended": "true"}),
    ("/users", {"is_suspended": "false"}),
    ("/logs", {}),
    ("/logs", {"page": LAST}),
    ("/logs", {"page": LAST // 2}),
    ("/logs", {"key": "Rare.Thing"}),
    ("/logs", {"application_id": "application 7"}),
    ("/logs", {"application_id": "application 7", "key": "Some.Thing2"}),
    ("/logs", OF_SOMEBODY),
    ("/logs", {"who": "person01234"}),
    ("/logs", {"who": "nobody"}),
    ("/logs", {"who": "01a1fc8a-cc5f-7278-9dc4-aeb7d6906a41"}),
    ("/logs", {"start_time": ago(MANY // 2), "end_time": ago(MANY // 2 - 200)}),
]


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for inner in plan.get("Plans", []):
        yield from nodes(inner)


def plans(statements: list[str]) -> Iterator[dict[str, Any]]:
    """The plans of those statements that are about the long tables, with how many rows each part met."""
    with connection.cursor() as cursor:
        for statement in statements:
            if statement.startswith("SELECT") and ("users_user" in statement or "audit_entry" in statement):
                cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {statement}")
                yield cursor.fetchone()[0][0]["Plan"]


def wrong(plan: dict[str, Any]) -> list[str]:
    """What reads or sorts a good part of a table. Ids may be skipped in an index, up to the middle."""
    found = []
    for node in nodes(plan):
        met = (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        most = MANY // 2 + 100 if node["Node Type"] == "Index Only Scan" else MANY // 10
        whole = node["Node Type"] == "Seq Scan" and node["Relation Name"] in {"users_user", "audit_entry"}
        if "Scan" in node["Node Type"] and (whole or met > most):
            found.append(f"{node['Node Type']}, {met} rows")
        if "Sort" in node["Node Type"] and node["Plans"][0]["Actual Rows"] > MANY // 10:
            found.append(f"{node['Node Type']} of {node['Plans'][0]['Actual Rows']} rows")
    return found


on_postgresql = pytest.mark.skipif(connection.vendor != "postgresql", reason="it is about PostgreSQL's plans")


@on_postgresql
@pytest.mark.parametrize(("path", "query"), QUERIES, ids=str)
def test_no_list_reads_or_sorts_a_whole_table(crowded, path, query):
    if query == OF_SOMEBODY:
        rare = Entry.objects.filter(tenant_id=crowded.tenant.pk, key="Rare.Thing")
        query = {"user_id": rare.latest("created_at").user_id}
    reader = Reader(crowded)
    assert reader.page(path, **query)["data"] or query in NOTHING
    with CaptureQueriesContext(connection) as captured:
        reader.page(path, **query)

    found = list(plans([asked["sql"] for asked in captured]))

    assert found
    assert [wrong(plan) for plan in found if wrong(plan)] == []


@on_postgresql
@pytest.mark.parametrize("page", [LAST // 2 - 70, LAST // 2, LAST // 2 + 70])
def test_a_page_in_the_middle_of_the_users_skips_less_than_a_day(crowded, page):
    reader = Reader(crowded)
    with CaptureQueriesContext(connection) as captured:
        assert len(reader.page("/users", page=page)["data"]) == 20

    skipping = [
        node["Actual Rows"]
        for plan in plans([asked["sql"] for asked in captured])
        for node in nodes(plan)
        if node["Node Type"] == "Index Only Scan"
    ]

    assert skipping
    assert max(skipping) <= 24 * 60 + 20  # one a minute


@on_postgresql
def test_the_users_of_a_role_are_looked_up_one_by_one(crowded):
    """A tenth of all: for so many PostgreSQL would read the whole table, which takes longer."""
    with crowded.active():
        role = Role.objects.create(name=secrets.token_hex(4), type=Role.Type.USER)
        some = User.objects.order_by("pk").values_list("pk", flat=True)[: MANY // 10]
        UserRole.objects.bulk_create(UserRole(role=role, user_id=pk) for pk in some)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE roles_userrole")

    with CaptureQueriesContext(connection) as captured:
        found = Reader(crowded).result(f"/roles/{role.pk}/users")

    assert len(found) == MANY // 10
    read = {
        (node["Node Type"], node.get("Relation Name"))
        for plan in plans([asked["sql"] for asked in captured if "roles_userrole" in asked["sql"]])
        for node in nodes(plan)
    }
    assert ("Index Scan", "users_user") in read
    assert ("Seq Scan", "users_user") not in read


@on_postgresql
def test_this_watch_sees_what_reads_or_sorts_a_whole_table(crowded):
    with crowded.active():
        newest_first = User.objects.order_by("-created_at", "-pk").values("name")
        slow = [
            newest_first.order_by("name"),
            newest_first.filter(search_text__contains="e"),
            newest_first[MANY - 20 : MANY],
            newest_first.filter(name="Nobody")[:20],
        ]
        for rows in slow:
            with CaptureQueriesContext(connection) as captured:
                list(rows)
            assert [found for plan in plans([captured[0]["sql"]]) for found in wrong(plan)], rows.query
