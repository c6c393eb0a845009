"""Who is let in where: a walk over every route below ``/api/v1``, taken from the URL map.

No route is named here. What a token opens depends on the group of the route alone: the
management API, the superusers' routes at the root, or the member API of organizations.
"""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import cast, management
from tests.support.management import Caller, connection, result_of
from tests.support.management_routes import Route
from tests.support.surface import Estate
from tests.support.tenant_rows import changed, rows_of
from tests.support.token_kinds import (
    CHALLENGE,
    GROUPS,
    INSUFFICIENT,
    Place,
    administrator_claims_signed_by_a_tenant_key,
    administrator_with_a_newer_password,
    deleted_application,
    deleted_manager,
    end_user,
    expired_administrator,
    expired_machine,
    expired_manager,
    foreign,
    good_token,
    id_token,
    is_refusal,
    local_administrator,
    machine_in_another_organization,
    machine_of_another_resource,
    machine_token,
    machine_whose_role_was_taken_away,
    machine_with_less,
    machine_without_roles,
    manager_token,
    manager_who_was_unbound,
    manager_whose_role_was_taken_away,
    manager_with_a_permission_like_it,
    manager_without_the_permission,
    removed_administrator,
    revoked,
    revoked_manager,
    routes_of,
    signed_by_a_deleted_key,
    signed_with_the_public_key,
    stranger_administrator,
    superuser,
    user_in_organization,
)

SHAPES = ["Bearer", "Bearer ,", "Basic {}", "Token {}", "{}", "Bearer {} {}", ""]


def other_signature(token: str) -> str:
    head, payload, signature = token.split(".")
    flipped = ("A" if signature[10] != "A" else "B") + signature[11:]
    return f"{head}.{payload}.{signature[:10]}{flipped}"


def longer(token: str) -> str:
    return f"{token}."


def shorter(token: str) -> str:
    return token[:-1]


def unsigned(token: str) -> str:
    """The same claims with ``alg`` none (RFC 8725 section 3.1)."""
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"at+jwt"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


NOBODY = {"management": 401, "root": 401, "members": 401}
NOT_ALLOWED = {"management": 403, "root": 403, "members": 403}
NO_ADMINISTRATORS = {"management": 403, "root": 403, "members": 401}


# What each token gets where it opens nothing, by group.
REFUSED: dict[Callable[[Place], str], dict[str, int]] = {
    expired_administrator: NOBODY,
    removed_administrator: NOBODY,
    administrator_with_a_newer_password: NOBODY,
    expired_machine: NOBODY,
    expired_manager: NOBODY,
    deleted_application: NOBODY,
    deleted_manager: NOBODY,
    revoked: NOBODY,
    revoked_manager: NOBODY,
    signed_by_a_deleted_key: NOBODY,
    signed_with_the_public_key: NOBODY,
    administrator_claims_signed_by_a_tenant_key: NOBODY,
    id_token: NOBODY,
    stranger_administrator: NO_ADMINISTRATORS,
    end_user: NOT_ALLOWED,
    user_in_organization: NOT_ALLOWED,
    machine_in_another_organization: NOT_ALLOWED,
    machine_without_roles: NOT_ALLOWED,
    machine_of_another_resource: NOT_ALLOWED,
    machine_with_less: NOT_ALLOWED,
    machine_whose_role_was_taken_away: NOT_ALLOWED,
    manager_without_the_permission: NOT_ALLOWED,
    manager_with_a_permission_like_it: NOT_ALLOWED,
    manager_whose_role_was_taken_away: NOT_ALLOWED,
    manager_who_was_unbound: NOT_ALLOWED,
    # What is good in one group, in the others.
    superuser: {"members": 401},
    local_administrator: {"root": 403, "members": 401},
    machine_token: {"root": 403, "members": 403},
    manager_token: {"management": 403, "root": 403},
}
FOREIGN = [machine_token, manager_token, end_user, id_token, machine_without_roles]


def refusals(place: Place, group: str, headers: dict[str, str], code: int) -> list[str]:
    """What is wrong with the refusals of a group: each must be exactly this, and change nothing.

    Every route is called with good ids and a good body, so that only the token can be the reason.
    """
    calls = [(call, place.estate.call(call)) for call in routes_of(group)]
    before = rows_of(place.world)
    answers = {
        route: connection().request(
            route.method, f"{place.world.address}/api/v1{path}", json=body, headers=headers
        )
        for route, (path, body) in calls
    }
    assert changed(before, rows_of(place.world)) == {}
    return [
        f"{route}: {answer.status_code} {answer.headers} {answer.text[:200]}"
        for route, answer in answers.items()
        if not is_refusal(answer, group, code)
    ]


@pytest.mark.parametrize("group", GROUPS)
class TestARequestThatNamesNobody:
    """Decision H3: 401 with a challenge, whatever was asked for."""

    def test_without_a_token_is_refused(self, places, group):
        assert refusals(places[group], group, {}, 401) == []

    @pytest.mark.parametrize("shape", SHAPES)
    def test_with_a_malformed_header_is_refused_case_H01_G10(self, places, group, shape):
        token = good_token(places[group], group)

        assert refusals(places[group], group, {"Authorization": shape.format(token, token)}, 401) == []

    @pytest.mark.parametrize("damage", [other_signature, unsigned, str.upper, longer, shorter])
    def test_with_a_forged_token_is_refused_case_F02_F22(self, places, group, damage):
        for token in (good_token(places[group], group), superuser(places[group])):
            forged = damage(token)

            assert refusals(places[group], group, {"Authorization": f"Bearer {forged}"}, 401) == []

    @pytest.mark.parametrize("where", ["query", "cookie"])
    def test_with_the_token_elsewhere_is_refused_case_F24(self, places, group, where):
        place, token = places[group], good_token(places[group], group)
        options: dict[str, Any] = {
            "query": {"params": {"access_token": token}},
            "cookie": {"headers": {"Cookie": f"access_token={token}"}},
        }

        for route in routes_of(group):
            address = f"{place.world.address}/api/v1{route.filled(place.estate.ids(route))}"
            assert connection().request(route.method, address, **options[where]).status_code == 401


@pytest.mark.parametrize(
    ("kind", "group", "code"),
    [
        pytest.param(kind, group, code, id=f"{kind.__name__}-{group}")
        for kind, codes in REFUSED.items()
        for group, code in codes.items()
    ],
)
def test_case_F10_F11_F13_F15_a_token_that_opens_nothing_here_is_refused_everywhere(
    places, kind, group, code
):
    headers = {"Authorization": f"Bearer {kind(places[group])}"}

    assert refusals(places[group], group, headers, code) == []


@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("kind", FOREIGN)
def test_case_F12_a_token_of_another_tenant_is_nobody_here(places, kind, group):
    headers = {"Authorization": f"Bearer {foreign(kind)(places[group])}"}

    assert refusals(places[group], group, headers, 401) == []


def in_an_order_that_can_be(routes: list[Route]) -> list[Route]:
    """Reading first and deleting last, the innermost before what it is in."""
    order = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    return sorted(routes, key=lambda route: (order.index(route.method), -route.path.count("/")))


@pytest.mark.parametrize(
    ("kind", "group"),
    [
        (superuser, "management"),
        (local_administrator, "management"),
        (machine_token, "management"),
        (superuser, "root"),
        (manager_token, "members"),
    ],
)
def test_a_good_token_opens_every_route(address, kind, group):
    world = cast.default_world() if group == "root" else cast.new_world("Open")
    place = Place(Estate(world), Estate(world))
    calls = [(route, *place.estate.call(route)) for route in in_an_order_that_can_be(routes_of(group))]
    # Signed after the estate got its retired key, which is deleted on the way.
    caller = Caller(world, kind(place))

    for route, path, body in calls:
        answer = caller.request(route.method, path, json=body)

        result_of(answer)


@pytest.mark.parametrize(
    ("header", "code", "challenge"),
    [
        (None, 401, CHALLENGE),
        ("Basic YTpi", 401, CHALLENGE),
        ("Bearer", 401, CHALLENGE),
        ("Bearer x", 401, f'{CHALLENGE}, error="invalid_token"'),
        ("Bearer {}", 403, INSUFFICIENT),
    ],
)
@pytest.mark.parametrize("path", ["/users", "/m2m/organizations/{}/members"])
def test_a_refusal_says_what_is_wrong_with_the_token_and_of_none_that_there_is_none(
    places, path, header, code, challenge
):
    """RFC 6750 section 3.1."""
    place = places["management"]
    headers = {} if header is None else {"Authorization": header.format(end_user(place))}

    answer = place.world.get(f"/api/v1{path.format(place.organization)}", headers=headers)

    assert answer.status_code == code
    assert answer.headers["WWW-Authenticate"] == challenge


@pytest.mark.parametrize("scheme", ["bearer", "BEARER"])
def test_the_scheme_is_known_in_any_case(places, scheme):
    for group in GROUPS[1:]:
        token = superuser(places[group]) if group == "root" else manager_token(places[group])
        route = next(route for route in routes_of(group) if route.method == "GET")
        address = f"{places[group].world.address}/api/v1{route.filled(places[group].estate.ids(route))}"

        assert connection().get(address, headers={"Authorization": f"{scheme} {token}"}).status_code == 200


def test_decision_T5_one_token_works_in_every_tenant_it_may_manage(acme, rival):
    caller = management.administrator(acme, rival)

    assert [caller.at(world).get("/users").status_code for world in (acme, rival)] == [200, 200]
    assert caller.at(cast.default_world()).get("/users").status_code == 403


def test_decision_T4_and_T6_routes_of_superusers_exist_at_the_root_only(places):
    place = places["management"]
    callers = [superuser, local_administrator, machine_token]
    for token in [kind(place) for kind in callers]:
        for route in routes_of("root"):
            path = route.filled({":pk": "default"})

            answer = Caller(place.world, token).request(route.method, path, json={})

            management.refusal_of(answer, 404)


def test_case_F15_a_role_that_comes_back_opens_again(places):
    robot = management.machine(places["management"].world)
    roles = f"/applications/{robot.id}/roles"
    admin = places["management"].admin

    result_of(admin.put(roles, role_ids=[]))
    without = robot.get("/users").status_code
    result_of(admin.put(roles, role_ids=[management.management_role(robot.world)]))

    assert (without, robot.get("/users").status_code) == (403, 200)
