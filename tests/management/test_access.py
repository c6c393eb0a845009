"""Who is let in where: a walk over every route below ``/api/v1``, taken from the URL map.

No route is named here. What a token opens depends on the group of the route alone: the
management API, the superusers' routes at the root, or the member API of organizations.
"""

import base64
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from unittest import mock
from uuid import UUID

import pytest
from joserfc import jwt as joserfc_jwt
from joserfc.jwk import OctKey

from database import ids
from identity.organizations import services as organizations
from management.administrators import tokens
from management.administrators.models import Administrator
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast, management, surface
from tests.support.cast import World
from tests.support.independent import claims_of
from tests.support.management import Caller, connection, result_of
from tests.support.surface import Estate, Route, all_routes, changed, rows_of

GROUPS = ("management", "root", "members")
CHALLENGE = 'Bearer realm="gatehouse"'
INSUFFICIENT = f'{CHALLENGE}, error="insufficient_scope"'
SHAPES = ["Bearer", "Bearer ,", "Basic {}", "Token {}", "{}", "Bearer {} {}", ""]


@dataclass(frozen=True)
class Place:
    """A tenant with one of everything, and another tenant that has nothing to do here."""

    estate: Estate
    elsewhere: Estate

    @property
    def world(self) -> World:
        return self.estate.world

    @property
    def admin(self) -> Caller:
        return self.estate.admin

    @property
    def organization(self) -> str:
        return self.estate["organizations"]


@pytest.fixture(scope="module")
def places(address: str) -> dict[str, Place]:
    """Where the routes of each group are walked: superusers' routes exist at the root only."""
    there = Estate(cast.new_world("Elsewhere"))
    tenant = Place(Estate(cast.new_world("Here")), there)
    root = Place(Estate(cast.default_world()), there)
    return {"management": tenant, "members": tenant, "root": root}


def routes_of(group: str) -> list[Route]:
    return [route for route in all_routes() if route.group == group]


# ── Tokens that open nothing, or less than everything ──────────────────────────────────────────────────


def signed_anew(world: World, token: str, **changes: object) -> str:
    """An access token with other claims and a signature that is right all the same."""
    with world.active():
        key = SigningKey.objects.get(status="active")
        return signing.sign(claims_of(token) | changes, typ="at+jwt", key_id=key.pk)


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


def signed_with_the_public_key(place: Place) -> str:
    """An application's claims, signed HS256 with what everybody can read (RFC 8725 section 2.1)."""
    key = place.world.get("/.well-known/jwks.json").json()["keys"][0]
    claims = claims_of(machine_token(place))
    secret = OctKey.import_key(json.dumps(key))
    return joserfc_jwt.encode({"alg": "HS256", "kid": key["kid"], "typ": "at+jwt"}, claims, secret)


def administrator_claims_signed_by_a_tenant_key(place: Place) -> str:
    claims = claims_of(management.superuser(place.world).token or "")
    with place.world.active():
        key = SigningKey.objects.get(status="active")
        return signing.sign(claims, typ="admin+jwt", key_id=key.pk)


def machine_token(place: Place) -> str:
    return management.machine(place.world).token or ""


def manager_token(place: Place) -> str:
    return management.member_manager(place.world, place.organization).token or ""


def good_token(place: Place, group: str) -> str:
    return manager_token(place) if group == "members" else machine_token(place)


def expired_administrator(place: Place) -> str:
    yesterday = time.time() - 86_401
    with mock.patch("management.administrators.tokens.time.time", return_value=yesterday):
        return tokens.issue(Administrator.objects.filter(is_superuser=True).earliest("pk"))


def removed_administrator(place: Place) -> str:
    row = management.new_administrator(place.world)
    token = tokens.issue(row)
    row.delete()
    return token


def administrator_with_a_newer_password(place: Place) -> str:
    row = management.new_administrator(place.world)
    token = tokens.issue(row)
    root = management.superuser(cast.default_world())
    result_of(root.patch(f"/administrators/{row.pk}", password="quite another"))
    return token


def stranger_administrator(place: Place) -> str:
    return management.administrator(place.elsewhere.world).token or ""


def local_administrator(place: Place) -> str:
    return management.administrator(place.world).token or ""


def superuser(place: Place) -> str:
    return place.admin.token or ""


def foreign(token: Callable[[Place], str]) -> Callable[[Place], str]:
    """The same kind of token, of the other tenant."""
    return lambda place: token(Place(place.elsewhere, place.estate))


def user_tokens(place: Place, **parameters: Any) -> dict[str, str]:
    user = place.world.user()
    with place.world.active():
        organizations.add_members(UUID(place.organization), [str(user.pk)])
    client = place.world.application()
    return client.tokens_for(user, **parameters)


def end_user(place: Place) -> str:
    return user_tokens(place)["access_token"]


def id_token(place: Place) -> str:
    return user_tokens(place)["id_token"]


def user_in_organization(place: Place) -> str:
    return user_tokens(place, organization_id=place.organization)["access_token"]


def machine_in_another_organization(place: Place) -> str:
    other = place.admin.created("/organizations", name="Other")["id"]
    return management.member_manager(place.world, other).token or ""


def machine_without_roles(place: Place) -> str:
    return management.machine(place.world, roles=[]).token or ""


def machine_of_another_resource(place: Place) -> str:
    """A scope called ``all``, of another API (its audience is not this one)."""
    resource = place.admin.created(
        "/resources", name="Theirs", indicator=f"https://{surface.new_name('api')}.example"
    )
    scope = place.admin.created(f"/resources/{resource['id']}/scopes", name="all")
    role = place.admin.created("/roles", name=surface.new_name(), type="MachineToMachine")
    result_of(place.admin.put(f"/roles/{role['id']}/scopes", scope_ids=[scope["id"]]))
    token = management.machine(place.world, roles=[role["id"]], resource=resource["indicator"]).token or ""
    assert claims_of(token)["scope"] == "all"
    return token


def machine_with_less(place: Place) -> str:
    """The management API's own audience, with its scope that opens nothing but members."""
    resource = next(
        row
        for row in result_of(place.admin.get("/resources", page_size=100))["data"]
        if row["indicator"].startswith("urn:service:management-api:")
    )
    scopes = result_of(place.admin.get(f"/resources/{resource['id']}/scopes"))
    less = next(scope["id"] for scope in scopes if scope["name"] == "manage:organizations")
    role = place.admin.created("/roles", name=surface.new_name(), type="MachineToMachine")
    result_of(place.admin.put(f"/roles/{role['id']}/scopes", scope_ids=[less]))
    token = management.machine(place.world, roles=[role["id"]]).token or ""
    assert claims_of(token)["scope"] == "manage:organizations"
    return token


def manager_without_the_permission(place: Place) -> str:
    made = management.member_manager(place.world, place.organization, permission=surface.new_name("do"))
    return made.token or ""


def manager_with_a_permission_like_it(place: Place) -> str:
    """A scope is a word of its own, in the case it is written in."""
    made = management.member_manager(place.world, place.organization, permission="Manage:organizations")
    return made.token or ""


def machine_whose_role_was_taken_away(place: Place) -> str:
    robot = management.machine(place.world)
    result_of(place.admin.put(f"/applications/{robot.id}/roles", role_ids=[]))
    return robot.token or ""


def manager_whose_role_was_taken_away(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    bound = f"/organizations/{place.organization}/applications/{robot.id}"
    result_of(place.admin.put(f"{bound}/roles", organization_role_ids=[]))
    return robot.token or ""


def manager_who_was_unbound(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    result_of(place.admin.delete(f"/organizations/{place.organization}/applications/{robot.id}"))
    return robot.token or ""


def deleted_application(place: Place) -> str:
    robot = management.machine(place.world)
    result_of(place.admin.delete(f"/applications/{robot.id}"))
    return robot.token or ""


def deleted_manager(place: Place) -> str:
    robot = management.member_manager(place.world, place.organization)
    result_of(place.admin.delete(f"/applications/{robot.id}"))
    return robot.token or ""


def _revoked(robot: management.Machine) -> str:
    answer = connection().post(
        f"{robot.world.address}/oidc/revoke",
        data={"token": robot.token},
        auth=(robot.client_id, robot.secret),
    )
    assert answer.status_code == 200
    return robot.token or ""


def revoked(place: Place) -> str:
    return _revoked(management.machine(place.world))


def revoked_manager(place: Place) -> str:
    return _revoked(management.member_manager(place.world, place.organization))


def expired_machine(place: Place) -> str:
    return signed_anew(place.world, machine_token(place), exp=int(time.time()) - 1)


def expired_manager(place: Place) -> str:
    return signed_anew(place.world, manager_token(place), exp=int(time.time()) - 1)


def signed_by_a_deleted_key(place: Place) -> str:
    token = machine_token(place)
    with place.world.active():
        key = SigningKey.objects.get(status="active").pk
    result_of(place.admin.post("/signing-keys/rotate"))
    result_of(place.admin.delete(f"/signing-keys/{key}"))
    return token


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


def is_refusal(answer, group: str, code: int) -> bool:
    """Whether an answer is the envelope of its group with this status, and nothing more."""
    if answer.status_code != code or answer.headers["Content-Type"] != "application/json":
        return False
    challenge = answer.headers.get("WWW-Authenticate", "")
    if code == 403 and challenge != INSUFFICIENT:
        return False
    if code == 401 and challenge not in {CHALLENGE, f'{CHALLENGE}, error="invalid_token"'}:
        return False
    body = answer.json()
    nothing = None if group == "members" else ""
    return (
        set(body) == {"code", "message", "result"}
        and body["code"] == code
        and body["result"] == nothing
        and bool(body["message"])
    )


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


# ── Tokens that are good ───────────────────────────────────────────────────────────────────────────────


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


# ── Another tenant's ids ───────────────────────────────────────────────────────────────────────────────


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
        name = surface.new_name("find-me")
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
        for path in ("/users", "/resources"):
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
        before = rows_of(place.world, place.elsewhere.world)

        for route, ids_, body in calls:
            answer = caller.request(route.method, route.filled(ids_), json=body)
            home = ids_[":organization_pk"] == place.organization
            assert (answer.status_code, answer.json()["code"]) == ((404, 41301) if home else (403, 403))
        assert changed(before, rows_of(place.world, place.elsewhere.world)) == {}

    @pytest.mark.parametrize("group", GROUPS[:2])
    @pytest.mark.parametrize("text", NO_IDS)
    def test_decision_H8_of_any_other_shape_is_unknown_too(self, places, group, text):
        place = places[group]
        for route in routes_of(group):
            good = place.estate.ids(route)
            _, body = place.estate.call(route)
            for name in good:
                answer = place.admin.request(route.method, route.filled(good | {name: text}), json=body)

                assert is_refusal(answer, group, 404), f"{route} {name}: {answer.status_code} {answer.text}"

    def test_decision_H8_in_another_spelling_is_unknown_too(self, places):
        place = places["management"]
        for route in routes_of("management"):
            good = place.estate.ids(route)
            _, body = place.estate.call(route)
            for name in good:
                for spelling in (good[name].upper(), f"{{{good[name]}}}", good[name].replace("-", "")):
                    answer = place.admin.request(
                        route.method, route.filled(good | {name: spelling}), json=body
                    )

                    assert is_refusal(answer, "management", 404), f"{route}: {answer.text}"

    def test_case_G03_to_G05_in_a_body_is_refused_and_changes_nothing(self, places):
        place = places["management"]
        lists = [route for route in surface.writes() if route.group != "root" and id_list(place, route)]
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
        place = places["management"]
        for route in surface.writes():
            if route.group != "management" or not (name := id_list(place, route)):
                continue
            own = place.estate.body(route)[name]
            path = route.filled(place.estate.ids(route))

            result_of(place.admin.request(route.method, path, json={name: own * 3}))

            if route.method == "PUT":
                shown = result_of(place.admin.get(path))
                assert [row["id"] for row in shown] == own


def is_list(route: Route) -> bool:
    """Whether a route answers with a page."""
    return not route.path.rpartition("/")[2].startswith(":") and (
        f"POST {route.path}" in {str(other) for other in surface.writes()} or route.path == "/logs"
    )


def ids_in(page: Any) -> list[str]:
    return [row["id"] for row in (page["data"] if isinstance(page, dict) else page)]


def furnish(estate: Estate, route: Route) -> None:
    """Make one thing more for a list, by its own POST; the log needs none."""
    for write in surface.writes():
        if (write.method, write.path) == ("POST", route.path):
            result_of(estate.admin.post(write.filled(estate.ids(write)), **estate.body(write)))


def id_list(place: Place, route: Route) -> str:
    """The name of the list of ids that a write takes, if it takes one."""
    names = [name for name in place.estate.body(route) if name.endswith("_ids")]
    return names[0] if names else ""
