"""The case book, letter H: what the management API shows, takes and refuses."""

import secrets
from typing import Any

import pytest

from audit.models import Entry
from tests.support import codes
from tests.support.cast import PASSWORD, World, default_world, new_world
from tests.support.management import refusal_of, result_of
from tests.support.management_routes import all_routes
from tests.support.surface import Estate
from tests.support.wire import send

ROUTES = {str(route): route for route in all_routes()}
HOSTILE = [
    "%",
    "_",
    "%%_%%",
    "'",
    '"',
    "\\",
    "';--",
    "*)(uid=*",
    "$where",
    "[a-z]*",
    "(?:a+)+$",
    "x" * 4_096,
]


def keys_of(value: Any) -> set[str]:
    """Every name of every object in an answer."""
    if isinstance(value, dict):
        return set(value) | {name for inner in value.values() for name in keys_of(inner)}
    if isinstance(value, list):
        return {name for inner in value for name in keys_of(inner)}
    return set()


def test_case_H04_a_client_secret_is_shown_when_it_is_made_and_never_again(acme, admin):
    made = admin.created("/applications", name="Robot", type="MachineToMachine")
    path = f"/applications/{made['id']}"
    rotated = result_of(admin.post(f"{path}/secret"))

    answers = [
        admin.get("/applications"),
        admin.get(path),
        admin.patch(path, name="Another"),
        admin.get(f"{path}/roles"),
        admin.get("/logs"),
    ]

    for answer in answers:
        shown = result_of(answer)
        assert not {name for name in keys_of(shown) if "secret" in name} & {"client_secret", "secret_hash"}
        for secret in (made["client_secret"], rotated["client_secret"]):
            assert secret not in answer.text


def test_case_H05_a_connectors_secret_is_never_shown_by_anything(acme, admin):
    secret = f"canary-{secrets.token_hex(12)}"
    config = {
        "host": "mail.example.com",
        "port": 465,
        "tls": "implicit",
        "username": "mailer",
        "password": secret,
        "from_email": "no-reply@example.com",
    }
    made = admin.post("/connectors", connector_id="smtp", type="Email", config=config)
    path = f"/connectors/{result_of(made)['id']}"

    kept = admin.patch(path, config={**config, "username": "other", "password": "***"})
    bad = admin.patch(path, config={**config, "port": "no number"})
    answers = [made, kept, bad, admin.get(path), admin.get("/connectors"), admin.get("/logs")]

    assert result_of(kept)["config"]["password"] == "***"
    assert bad.status_code == 400
    assert [answer for answer in answers if secret in answer.text] == []
    with acme.active():
        assert not Entry.objects.filter(payload__icontains=secret).exists()


@pytest.mark.parametrize(
    "config", ["text", ["list"], None, 5, {"x": "y" * 1_000_000}, {"host": 5}, {"host": None}]
)
def test_case_H06_a_connector_whose_config_is_nonsense_is_refused(admin, config):
    before = result_of(admin.get("/connectors"))["total"]

    answer = admin.post("/connectors", connector_id="smtp", type="Email", config=config)

    assert answer.status_code in {400, 413}
    assert result_of(admin.get("/connectors"))["total"] == before


def test_case_H06_a_provider_of_one_type_is_not_made_as_another(admin):
    answer = admin.post("/connectors", connector_id="smtp", type="Sms", config={})

    refusal_of(answer, 400)


def test_case_H08_a_search_is_a_text_and_no_pattern(acme, admin):
    for _ in range(3):
        acme.user()
    odd = acme.user(name="100 % \\ of _ 'quotes' and \"more\"")

    for term in HOSTILE:
        found = result_of(admin.get("/users", search=term))["data"]
        names = [row["id"] for row in found]
        assert names == ([str(odd.pk)] if term in (odd.name or "") else []), term


@pytest.mark.parametrize("term", ["\x00", "%00", "a\x00b"])
def test_case_H08_a_search_for_a_nul_finds_nothing_and_breaks_nothing(admin, term):
    assert admin.get("/users", search=term).status_code in {200, 400}


@pytest.mark.parametrize(
    "name", ["ordering", "order_by", "sort", "fields", "password_hash__startswith", "tenant_id"]
)
def test_case_H08_an_unknown_filter_or_order_changes_nothing(acme, admin, name):
    acme.user()
    acme.user()

    usual, asked = admin.get("/users"), admin.get("/users", **{name: "password_hash"})

    assert asked.status_code in {200, 400}
    assert asked.status_code == 400 or asked.json() == usual.json()


class TestTwice:
    def test_case_H10_what_was_deleted_is_unknown_to_a_second_delete_and_to_a_change(self, address):
        for name, route in ROUTES.items():
            is_item = route.path.endswith("pk")  # a collection can be emptied twice
            if route.method != "DELETE" or route.group == "members" or not is_item:
                continue
            world = _world_of(route.group)
            estate = Estate(world)
            path = route.filled(estate.ids(route))

            first, second = estate.admin.delete(path), estate.admin.delete(path)

            assert first.status_code == 200, f"{name}: {first.text}"
            assert second.status_code == 404, name
            change = ROUTES.get(name.replace("DELETE", "PATCH"))
            if change:
                body = estate.body(change) if change.takes_body else {}
                assert estate.admin.patch(path, **body).status_code == 404, name


class TestPath:
    @pytest.mark.parametrize(
        "path",
        [
            b"/api/v1/users/../applications",
            b"/api/v1/users/%2e%2e/applications",
            b"/api/v1/users;x=1",
            b"/api/v1//users",
            b"//api/v1/users",
            b"/api/v1/users%2f",
            b"/api/v1%2fusers",
            b"/api/v1/users/",
            b"/api/v1/users%00",
            b"/api/V1/users",
        ],
    )
    def test_case_H13_another_spelling_is_no_way_around_the_check(self, acme, admin, path):
        stranger = send(acme.address, "GET", path)
        known = send(acme.address, "GET", path, f"Authorization: Bearer {admin.token}")

        assert stranger.status in {400, 401, 404}
        # A server that decodes %2f sees the canonical path, and asks for the same token.
        assert known.status in {400, 404} or (stranger.status, known.status) == (401, 200)


def test_case_H14_a_changed_email_voids_what_was_on_its_way_to_the_old_one(acme, admin):
    codes.reachable(acme)
    before, after = codes.new_email(), codes.new_email()
    user, browser = acme.user(email=before), acme.browser()
    code = codes.sent(browser, before)

    changed = result_of(admin.patch(f"/users/{user.pk}", email=after))

    assert changed["email"] == after
    assert codes.enter(browser, before, code).status_code == 400
    assert browser.get("/account").status_code == 303
    with acme.active():
        entry = Entry.objects.filter(key="User.Update").latest("created_at")
    assert "email" in str(entry.payload)


def test_case_H15_a_password_that_an_administrator_sets_ends_what_the_old_one_opened(acme, admin):
    user, browser, client = acme.user(), acme.browser(), acme.application()
    tokens = client.tokens_for(user, browser)
    refusal_of(admin.patch(f"/users/{user.pk}/password", password="12345"), 400)

    result_of(admin.patch(f"/users/{user.pk}/password", password="123456"))

    assert client.userinfo(tokens["access_token"]).status_code == 401
    assert client.refresh(tokens["refresh_token"]).status_code == 400
    assert browser.get("/account").status_code == 303
    assert acme.browser().sign_in(user, PASSWORD).status_code == 401
    assert acme.browser().sign_in(user, "123456").status_code == 200


def test_case_H16_an_id_of_nothing_is_404_on_every_route(address):
    unknown = "01890000-0000-7000-8000-000000000000"
    for name, route in ROUTES.items():
        if not route.parameters or route.group == "members":
            continue
        world = _world_of(route.group)
        estate = Estate(world)
        first, *_ = route.parameters
        ids = {
            parameter: "999999999" if collection == "administrators" else unknown
            for collection, parameter in [first]
        }
        ids |= {parameter: unknown for _, parameter in route.parameters[1:]}
        body = _body_without_ids(estate, route) if route.takes_body else None

        answer = estate.admin.request(route.method, route.filled(ids), json=body)

        assert answer.status_code == 404, f"{name}: {answer.text}"
        assert answer.json()["code"] == 404


def _body_without_ids(estate: Estate, route: Any) -> dict[str, Any]:
    body = estate.body(route)
    return {name: [] if name.endswith("_ids") else value for name, value in body.items()} | (
        {"user_ids": [str(estate.world.user().pk)]} if "user_ids" in body else {}
    )


def _world_of(group: str) -> World:
    return default_world() if group == "root" else new_world("Cases")
