"""An id in a path or a body that is not of the caller's tenant: on every route below ``/api/v1``."""

from typing import Any

import pytest

from database import ids
from tests.support import cast
from tests.support.management import Caller, result_of
from tests.support.management_routes import Route, writes
from tests.support.names import new_name
from tests.support.surface import Estate
from tests.support.tenant_rows import changed, rows_of
from tests.support.token_kinds import (
    GROUPS,
    Place,
    is_refusal,
    machine_token,
    manager_token,
    routes_of,
    superuser,
)


def mixtures(own: dict[str, str], other: dict[str, str]) -> list[dict[str, str]]:
    """Every way to fill a path with at least one of the other ids."""
    fillings: list[dict[str, str]] = [{}]
    for name in own:
        fillings = [filling | {name: ids[name]} for filling in fillings for ids in (own, other)]
    return [filling for filling in fillings if filling != own]


NO_IDS = ["nothing", "0", "%00", "%F0%9F%90%99", "..%2f", "x" * 4000]


class TestAnIdThatIsNotOfThisTenant:
    @pytest.mark.parametrize("kind", [superuser, machine_token])
    def test_case_G01_in_a_path_is_unknown(self, places, kind):
        place = places["management"]
        caller = Caller(place.world, kind(place))
        calls = [
            (route, ids_, place.estate.call(route)[1])
            for route in routes_of("management")
            for ids_ in mixtures(place.estate.ids(route), place.elsewhere.ids(route))
        ]
        before = rows_of(place.world, place.elsewhere.world)

        wrong = []
        for route, ids_, body in calls:
            answer = caller.request(route.method, route.filled(ids_), json=body)
            if not is_refusal(answer, route.group, 404):
                wrong.append(f"{route} {ids_}: {answer.status_code} {answer.text[:200]}")

        assert wrong == []
        assert changed(before, rows_of(place.world, place.elsewhere.world)) == {}

    def test_case_G02_lists_totals_and_counts_hold_nothing_of_another_tenant(self, places):
        place = places["management"]
        own, other = Estate(cast.new_world("Own")), place.elsewhere
        lists = [route for route in routes_of("management") if route.method == "GET" and is_list(route)]
        assert len(lists) >= 8

        for route in lists:
            path = route.filled(own.ids(route))
            if not route.parameters:
                there = result_of(other.admin.get(path))
                assert not set(ids_in(there)) & set(ids_in(result_of(own.admin.get(path)))), route
            before = result_of(own.admin.get(path))
            furnish(other, route)
            after = result_of(own.admin.get(path))
            if route.path != "/logs":
                assert after == before, route

    def test_case_G02_a_search_finds_nothing_of_another_tenant(self, places):
        place = places["management"]
        name = new_name("find-me")
        made = {
            "/users": {"username": name, "password": "sesame"},
            "/roles": {"name": name, "type": "User"},
            "/resources": {"name": name, "indicator": f"https://{name}.example"},
            "/organizations": {"name": name},
            "/organization-roles": {"name": name},
            "/organization-permissions": {"name": name},
            "/applications": {"name": name, "type": "SPA"},
        }
        for path, body in made.items():
            place.elsewhere.admin.created(path, **body)

            here = result_of(place.admin.get(path, search=name, page_size=100))

            assert name not in str(here)
        for path in made:
            assert result_of(place.elsewhere.admin.get(path, search=name))["total"] == 1
            assert result_of(place.admin.get(path, search=name)) == {
                "data": [],
                "total": 0,
                "page": 1,
                "page_size": 20,
            }

    def test_case_G21_in_a_path_of_the_member_api_is_refused(self, places):
        place = places["members"]
        caller = Caller(place.world, manager_token(place))
        calls = [
            (route, ids_, place.estate.call(route)[1])
            for route in routes_of("members")
            for ids_ in mixtures(place.estate.ids(route), place.elsewhere.ids(route))
        ]
        assert len(calls) > 10
        before = rows_of(place.world, place.elsewhere.world)

        for route, ids_, body in calls:
            answer = caller.request(route.method, route.filled(ids_), json=body)
            home = ids_[":organization_pk"] == place.organization
            assert (answer.status_code, answer.json()["code"]) == ((404, 41301) if home else (403, 403))
        assert changed(before, rows_of(place.world, place.elsewhere.world)) == {}

    @pytest.mark.parametrize("group", GROUPS[:2])
    @pytest.mark.parametrize("text", NO_IDS)
    def test_decision_H8_of_any_other_shape_is_unknown_too(self, places, group, text):
        place, seen = places[group], 0
        for route in routes_of(group):
            good = place.estate.ids(route)
            _, body = place.estate.call(route)
            for name in good:
                seen += 1
                answer = place.admin.request(route.method, route.filled(good | {name: text}), json=body)

                assert is_refusal(answer, group, 404), f"{route} {name}: {answer.status_code} {answer.text}"
        assert seen > 4

    def test_decision_H8_in_another_spelling_is_unknown_too(self, places):
        place, seen = places["management"], 0
        for route in routes_of("management"):
            good = place.estate.ids(route)
            _, body = place.estate.call(route)
            for name in good:
                seen += 1
                for spelling in (good[name].upper(), f"{{{good[name]}}}", good[name].replace("-", "")):
                    answer = place.admin.request(
                        route.method, route.filled(good | {name: spelling}), json=body
                    )

                    assert is_refusal(answer, "management", 404), f"{route}: {answer.text}"
        assert seen > 40

    def test_case_G03_to_G05_in_a_body_is_refused_and_changes_nothing(self, places):
        place = places["management"]
        lists = [route for route in writes() if route.group != "root" and id_list(place, route)]
        assert len(lists) >= 11
        robot = Caller(place.world, manager_token(place))
        for route in lists:
            name = id_list(place, route)
            own, other = place.estate.body(route)[name], place.elsewhere.body(route)[name]
            caller = robot if route.group == "members" else place.admin
            path = route.filled(place.estate.ids(route))
            before = rows_of(place.world, place.elsewhere.world)
            for sent in (other, own + other, [*own, "x"], [*own, str(ids.new())], own * 2 + other * 2):
                answer = caller.request(route.method, path, json={name: sent})

                assert is_refusal(answer, route.group, 400), f"{route}: {answer.status_code} {answer.text}"
                assert answer.json()["message"].startswith(f"{name}: ")
                assert (sent[-1]) in answer.json()["message"]
            assert changed(before, rows_of(place.world, place.elsewhere.world)) == {}

    def test_decision_H4_twice_in_a_body_counts_once(self, places):
        place, seen = places["management"], 0
        for route in writes():
            if route.group != "management" or not (name := id_list(place, route)):
                continue
            seen += 1
            own = place.estate.body(route)[name]
            path = route.filled(place.estate.ids(route))

            result_of(place.admin.request(route.method, path, json={name: own * 3}))

            if route.method == "PUT":
                shown = result_of(place.admin.get(path))
                assert [row["id"] for row in shown] == own
        assert seen > 8


def is_list(route: Route) -> bool:
    """Whether a route answers with a page."""
    return not route.path.rpartition("/")[2].startswith(":") and (
        f"POST {route.path}" in {str(other) for other in writes()} or route.path == "/logs"
    )


def ids_in(page: Any) -> list[str]:
    return [row["id"] for row in (page["data"] if isinstance(page, dict) else page)]


def furnish(estate: Estate, route: Route) -> None:
    """Make one thing more for a list, by its own POST; the log needs none."""
    for write in writes():
        if (write.method, write.path) == ("POST", route.path):
            result_of(estate.admin.post(write.filled(estate.ids(write)), **estate.body(write)))


def id_list(place: Place, route: Route) -> str:
    """The name of the list of ids that a write takes, if it takes one."""
    names = [name for name in place.estate.body(route) if name.endswith("_ids")]
    return names[0] if names else ""
