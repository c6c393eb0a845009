"""Decision H5 on every list that comes in pages; the lists are those of the URL map."""

from typing import Any

import pytest

from tests.support import management
from tests.support.crowd import ROWS, path_of
from tests.support.management import Caller, result_of
from tests.support.management_routes import Route, all_routes
from tests.support.surface import Estate

# Answered as a whole: few by nature, and the interface says arrays.
WHOLE = {
    "/users/:pk/roles",
    "/users/:pk/mfa-verifications",
    "/roles/:pk/scopes",
    "/roles/:pk/users",
    "/roles/:pk/applications",
    "/resources/:resource_pk/scopes",
    "/organizations/:pk/users/:user_pk/roles",
    "/organizations/:pk/applications/:application_pk/roles",
    "/organization-roles/:pk/scopes",
    "/organization-roles/:pk/resource-scopes",
    "/applications/:pk/roles",
    "/applications/:pk/secrets",
    "/signing-keys",
    "/connector-factories",
    "/m2m/organizations/:organization_pk/members/:user_pk/roles",
}
DETAIL = {"/sign-in-experience", "/oidc-settings", "/users/:pk/mfa-settings"}
NO_NUMBERS = ["0", "-1", "abc", "1.5", "", " 1", "1e3", "٣", "1\0", "00", "+1", "0x1"]
PAGED = [
    route
    for route in all_routes()
    if route.method == "GET"
    and route.path not in WHOLE | DETAIL
    and not route.path.rpartition("/")[2].startswith(":")
]


@pytest.fixture(scope="module")
def manager(crowd: dict[str, Estate]) -> Caller:
    estate = crowd["members"]
    return management.member_manager(estate.world, estate["organizations"])


@pytest.fixture(params=PAGED, ids=str)
def listed(request: Any, crowd: dict[str, Estate], manager: Caller) -> tuple[Caller, str, Route]:
    """Who may see a list, and where it is."""
    route: Route = request.param
    estate = crowd[route.group]
    return manager if route.group == "members" else estate.admin, path_of(estate, route), route


def rows_of(page: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a page, which has exactly the members that the interface gives it."""
    name = "data" if "data" in page else "result"
    assert set(page) == {name, "total", "page", "page_size"}
    rows: list[dict[str, Any]] = page[name]
    return rows


def test_the_list_of_lists_is_whole():
    gets = {route.path for route in all_routes() if route.method == "GET"}
    assert gets >= WHOLE
    assert len(PAGED) >= 13


def test_decision_H5_starts_at_1_with_20_rows(listed):
    caller, path, route = listed

    page = result_of(caller.get(path))

    assert (page["page"], page["page_size"]) == (1, 20)
    assert page["total"] >= ROWS
    assert len(rows_of(page)) == min(20, page["total"])
    assert ("result" in page) == (route.group == "members")


@pytest.mark.parametrize("name", ["page", "page_size"])
def test_decision_H5_what_is_no_number_from_1_is_400_and_is_named(listed, name):
    caller, path, route = listed
    for value in NO_NUMBERS:
        answer = caller.get(path, **{name: value})

        assert answer.status_code == answer.json()["code"] == 400, f"{name}={value!r}: {answer.text}"
        assert answer.json()["message"].startswith(f"{name}: ")
        assert answer.json()["result"] == (None if route.group == "members" else "")


def test_decision_H5_more_than_100_rows_are_served_as_100(listed):
    caller, path, _ = listed

    pages = [result_of(caller.get(path, page_size=size)) for size in (100, 101, 2_000_000_000)]

    assert [page["page_size"] for page in pages] == [100, 100, 100]
    assert rows_of(pages[0]) == rows_of(pages[1]) == rows_of(pages[2])


@pytest.mark.parametrize("page", [100_000, 2**31 - 1, 2**31, 9_999_999_999])
def test_decision_H5_past_the_end_is_empty_and_tells_the_true_total(listed, page):
    caller, path, _ = listed

    beyond = result_of(caller.get(path, page=page, page_size=100))

    assert rows_of(beyond) == []
    assert beyond["total"] == result_of(caller.get(path))["total"]


def test_decision_H5_the_newest_comes_first(listed):
    caller, path, _ = listed

    rows = rows_of(result_of(caller.get(path, page_size=100)))

    ages = [row.get("joined_at") or row.get("created_at") or row["id"] for row in rows]
    assert ages == sorted(ages, reverse=True)
    assert len(set(ages)) > 1


def test_decision_H5_pages_never_overlap_and_leave_nothing_out(listed):
    caller, path, _ = listed
    whole = rows_of(result_of(caller.get(path, page_size=4)))
    whole += rows_of(result_of(caller.get(path, page_size=4, page=2)))

    singly = [
        row for page in range(1, 9) for row in rows_of(result_of(caller.get(path, page=page, page_size=1)))
    ]

    assert singly == whole[: len(singly)]
    assert len({str(row["id"]) for row in whole}) == len(whole) >= ROWS


def test_decision_H5_a_list_of_nothing_is_no_error_and_a_list_of_no_thing_is_404(acme, admin):
    organization = admin.created("/organizations", name="Empty")["id"]
    user = admin.created("/users", username="alone", password="sesame")["id"]
    nobody = "01900000-0000-7000-8000-000000000000"

    for path in (f"/organizations/{organization}/users", f"/organizations/{organization}/applications"):
        assert result_of(admin.get(path)) == {"data": [], "total": 0, "page": 1, "page_size": 20}
        assert admin.get(path.replace(organization, nobody)).status_code == 404
        assert admin.get(path.replace(organization, "nothing")).status_code == 404
    assert result_of(admin.get(f"/users/{user}/organizations"))["total"] == 0
    assert admin.get(f"/users/{nobody}/organizations").status_code == 404
    assert admin.get(f"/resources/{nobody}/scopes").status_code == 404
