"""What the management API may cost in statements, for each caller and each length of a page.

The routes come from the URL map. "Who is asking" is a part of the price: one statement finds
the caller and all that the caller may do here. The same price for a page of one row and for a
page of all shows that nothing is read row by row.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from zeal import NPlusOneError, zeal_context

from identity.organizations.models import Membership
from identity.tenants import middleware
from identity.users.models import User
from oidc.applications.models import OrganizationApplication
from tests.support import cast, management
from tests.support.cast import World
from tests.support.crowd import ROWS, assignment_of, is_assignment, items_for, path_of
from tests.support.independent import bearer
from tests.support.management import result_of
from tests.support.management_routes import Route, all_routes
from tests.support.surface import Estate

LIST: Final = 3
# Lists that nothing narrows but the organization whose members they are: page and total are one statement.
WHOLE_LIST: Final = 2
WHOLE: Final = re.compile(
    r"/(users|roles|resources|organizations|organization-roles|organization-permissions|applications"
    r"|connectors|tenants|organizations/:\w+/users|m2m/organizations/:\w+/members)"
)
DETAIL: Final = 2
# When the last token of a key expires is in the table of usage.
# Second factors are of four kinds, and the sign-in experience says which count.
# The policy of a tenant says which browsers are remembered.
MORE: Final = {
    "/signing-keys/:pk": 3, "/users/:pk/mfa-verifications": 6, "/users/:pk/trusted-devices": 5,
}  # fmt: skip
# What a user has few of, and this walk has none of.
FEW: Final = {"/users/:pk/mfa-verifications"}
ASSIGNMENT: Final = 6
MANY: Final = 1000
NOT_COUNTED: Final = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


@pytest.fixture(autouse=True)
def tenants_stay_cached(monkeypatch):
    """Or a tenant's entry could expire between two requests, and the second would pay for reading it."""
    monkeypatch.setattr(middleware, "_cache", {})
    monkeypatch.setattr(middleware, "_CACHE_SECONDS", 3600.0)


@dataclass
class Inside:
    """The API in the test's own process, so that statements can be counted."""

    world: World
    token: str

    def statements(self, method: str, path: str, body: dict[str, Any] | None = None) -> list[str]:
        """Call, which must succeed, and return what the database was asked."""
        prefix = self.world.tenant.to_active().prefix
        client = Client()
        client.get(f"{prefix}/.well-known/openid-configuration")  # the worker knows the tenant from now on
        with CaptureQueriesContext(connection) as captured, zeal_context():
            answer = client.generic(
                method,
                f"{prefix}/api/v1{path}",
                data=b"" if body is None else orjson.dumps(body),
                content_type="application/json",
                headers=bearer(self.token),
            )
        assert answer.status_code == 200, f"{method} {path}: {answer.content!r}"
        return [query["sql"] for query in captured if not query["sql"].startswith(NOT_COUNTED)]


# ── Callers ─────────────────────────────────────────────────────────────────────────────────────────────────


def superuser(estate: Estate) -> str:
    return estate.admin.token or ""


def administrator_of_the_tenant(estate: Estate) -> str:
    return management.administrator(estate.world).token or ""


def application(estate: Estate) -> str:
    return management.machine(estate.world).token or ""


def application_with_a_permission(estate: Estate) -> str:
    return management.member_manager(estate.world, estate["organizations"]).token or ""


CALLERS: Final[list[tuple[str, Callable[[Estate], str]]]] = [
    ("management", superuser),
    ("management", administrator_of_the_tenant),
    ("management", application),
    ("root", superuser),
    ("members", application_with_a_permission),
]


# ── Budgets ─────────────────────────────────────────────────────────────────────────────────────────────────


def reads(group: str) -> list[Route]:
    return [route for route in all_routes() if route.group == group and route.method == "GET"]


def is_detail(route: Route) -> bool:
    return bool(re.search(r":\w+$", route.path)) or route.path in {
        "/sign-in-experience", "/oidc-settings", "/users/:pk/mfa-settings",
    }  # fmt: skip


def list_budget(route: Route) -> int:
    return WHOLE_LIST if WHOLE.fullmatch(route.path) else LIST


def said(what: str, statements: list[str]) -> str:
    return "\n  ".join([f"{what}: {len(statements)}", *(statement[:300] for statement in statements)])


@pytest.mark.parametrize(("group", "kind"), CALLERS, ids=lambda value: getattr(value, "__name__", value))
def test_reading_costs_the_same_whoever_asks_and_however_long_the_page_is(crowd, group, kind):
    estate = crowd[group]
    inside = Inside(estate.world, kind(estate))
    wrong = []
    for route in reads(group):
        path = path_of(estate, route)
        inside.statements("GET", path)  # whatever is read once for good was read
        short = inside.statements("GET", f"{path}?page_size=1")
        long = inside.statements("GET", f"{path}?page_size=100")
        budget = MORE.get(route.path, DETAIL if is_detail(route) else list_budget(route))
        if not len(short) == len(long) <= budget:
            wrong.append(said(f"{route}, of {budget}", long))
    assert not wrong, "\n".join(wrong)


def test_the_lists_of_this_walk_are_not_empty(crowd):
    """Or the same price for every page would mean nothing."""
    for group in ("management", "root"):
        estate = crowd[group]
        for route in reads(group):
            if not is_detail(route) and route.path not in FEW:
                shown = result_of(estate.admin.get(path_of(estate, route)))
                rows = shown["data"] if isinstance(shown, dict) else shown
                # An application has at most five good secrets, and another call of the walk creates one.
                assert len(rows) >= (ROWS - 1 if route.path.endswith("/secrets") else ROWS), route


def test_the_watch_of_this_walk_notices_a_query_for_each_row(crowd):
    with crowd["management"].world.active(), zeal_context(), pytest.raises(NPlusOneError):
        assert [member.user.username for member in Membership.objects.all()]


def replaced(estate: Estate, route: Route, token: str) -> list[list[str]]:
    """Fill a set from nothing, replace all of it, and empty it; return the statements of each."""
    inside = Inside(estate.world, token)
    path = route.filled(estate.ids(route))
    (field,) = estate.body(route)
    inside.statements("PUT", path, {field: []})
    sets = [items_for(estate.world, route, MANY), items_for(estate.world, route, MANY), []]
    return [inside.statements("PUT", path, {field: ids}) for ids in sets]


def is_nested(route: Route) -> bool:
    """Whether the set belongs to a row that the path names by two ids: finding it costs one more."""
    return assignment_of(route).parents in {Membership, OrganizationApplication}


@pytest.mark.parametrize(
    ("group", "kind"), [("management", application), ("members", application_with_a_permission)]
)
def test_a_set_of_a_thousand_costs_no_more_than_a_small_one(address, group, kind):
    estate = Estate(cast.new_world("Here"))
    token = kind(estate)
    wrong = []
    for route in all_routes():
        if route.group == group and is_assignment(route):
            filled, exchanged, emptied = replaced(estate, route, token)
            if max(len(filled), len(emptied)) > ASSIGNMENT or len(exchanged) > ASSIGNMENT + 1:
                wrong += [said(f"{route}", part) for part in (filled, exchanged, emptied)]
            elif len(exchanged) > ASSIGNMENT and not is_nested(route):
                wrong.append(said(f"{route}, all exchanged", exchanged))
    assert not wrong, "\n".join(wrong)


def test_a_member_is_added_by_the_thousand_at_the_same_price(acme, admin):
    organization = admin.created("/organizations", name="Large")["id"]
    with acme.active():
        people = User.objects.bulk_create([User(username=f"p{number}") for number in range(MANY)])
        ids = [str(person.pk) for person in people]

    cost = Inside(acme, admin.token).statements(
        "POST", f"/organizations/{organization}/users", {"user_ids": ids}
    )

    assert len(cost) <= ASSIGNMENT, said("all", cost)
    with acme.active():
        assert Membership.objects.filter(organization=organization).count() == MANY


# ── Tokens of people ────────────────────────────────────────────────────────────────────────────────────────

EVERYTHING = " ".join(
    (
        *("openid", "profile", "email", "phone", "offline_access"),
        *("urn:service:scope:organizations", "urn:service:scope:organization_roles"),
    )
)


@pytest.fixture
def joined(acme, admin) -> dict[str, str]:
    """A user of three organizations with a role in each, and a token in one of them."""
    user = acme.user()
    role = admin.created("/organization-roles", name="Member")["id"]
    homes = [admin.created("/organizations", name="Home")["id"] for _ in range(3)]
    for home in homes:
        result_of(admin.post(f"/organizations/{home}/users", user_ids=[str(user.pk)]))
        result_of(admin.put(f"/organizations/{home}/users/{user.pk}/roles", organization_role_ids=[role]))
    client = acme.application()
    return {
        "token": client.tokens_for(user, scope=EVERYTHING, organization_id=homes[0])["access_token"],
        "organization": homes[0],
    }


@pytest.mark.parametrize("path", ["/api/session/context", "/oidc/userinfo"])
def test_who_is_behind_a_token_with_organizations_costs_two_at_most(acme, joined, path):
    client = Client()
    address = f"{acme.tenant.to_active().prefix}{path}"
    client.get(address, headers=bearer(joined["token"]))

    with CaptureQueriesContext(connection) as captured:
        answer = client.get(address, headers=bearer(joined["token"]))

    shown = answer.json()
    organizations_shown = shown["result"]["organizations"] if "result" in shown else shown["organizations"]
    assert len(organizations_shown) == 3
    assert len(captured) <= 2
