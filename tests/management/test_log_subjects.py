"""Whose entries of the audit log are found: by ``who`` in the API, and by the search of the site."""

import html
import re
import secrets

import httpx
import pytest
from django.conf import settings

from audit import context, log
from audit.events import Event
from database import ids
from identity.users import services as users
from tests.support import cast, management, operators
from tests.support.management import result_of
from tests.support.operators import Operator, administrator, text_of

SIGN_IN = "/api/interaction/sign-in"
IP = "2001:db8::7"


def attempt(world, identifier, password="wrong"):
    return world.post(SIGN_IN, json={"identifier": identifier, "password": password})


@pytest.fixture(scope="module")
def world(address):
    return cast.new_world("Acme")


@pytest.fixture(scope="module")
def admin(world):
    return management.superuser(world)


@pytest.fixture(scope="module")
def ada(world, admin):
    """A user with three identifiers, who was created by the API, and failed and signed in with each."""
    name = f"ada-{secrets.token_hex(4)}"
    fields = {"email": f"{name}@example.com", "phone": f"+4915{secrets.randbelow(10**8):08d}"}
    user = admin.created("/users", username=name, name="Ada Lovelace", password=cast.PASSWORD, **fields)
    for identifier in (user["username"].upper(), user["email"], user["phone"]):
        attempt(world, identifier)
    attempt(world, user["username"], cast.PASSWORD)
    attempt(world, f"{name}x")
    admin.created("/users", username=f"{name}x", password=cast.PASSWORD)
    return user


@pytest.fixture(scope="module")
def operator(world):
    with httpx.Client(base_url=settings.BASE_URL) as http:
        operator = Operator(administrator(), http=http)
        operator.sign_in()
        yield operator.choose(world)


EVERYTHING = ["User.Create", *["SignIn.Password"] * 4]


def found(admin, **query):
    page = result_of(admin.get("/logs", page_size=100, **query))
    assert page["total"] == len(page["data"])
    return sorted(entry["key"] for entry in page["data"])


class TestWho:
    @pytest.mark.parametrize("name", ["id", "username", "email", "phone"])
    def test_finds_all_entries_of_a_user_by_every_identifier(self, admin, ada, name):
        assert found(admin, who=ada[name]) == sorted(EVERYTHING)
        assert name == "id" or found(admin, who=f" {ada[name].upper()} ") == sorted(EVERYTHING)

    def test_combines_with_other_filters(self, admin, ada):
        assert found(admin, who=ada["email"], key="User.Create") == ["User.Create"]
        assert found(admin, who=ada["email"], identifier=ada["phone"]) == ["SignIn.Password"]
        assert found(admin, who=ada["email"], start_time="2999-01-01T00:00:00Z") == []

    def test_finds_attempts_with_an_identifier_that_nobody_has(self, world, admin):
        typed = f"nobody-{secrets.token_hex(4)}"
        attempt(world, typed)

        assert found(admin, who=typed.swapcase()) == ["SignIn.Password"]

    def test_finds_the_entries_of_a_deleted_user_by_its_id(self, world, admin):
        user = world.user()
        with world.active(), context.tenant(world.tenant.pk):
            users.remove(user)

        assert "User.Delete" in found(admin, who=str(user.pk))

    def test_finds_nothing_of_another_tenant(self, admin, ada, rival):
        elsewhere = management.superuser(rival)

        for name in ("id", "username", "email", "phone"):
            assert found(elsewhere, who=ada[name]) == []

    def test_superusers_find_them_by_naming_the_tenant(self, world, ada, rival):
        elsewhere = management.superuser(rival)
        limited = management.administrator(rival)

        assert found(elsewhere, who=ada["email"], tenant_id=world.tenant.pk) == sorted(EVERYTHING)
        assert found(limited, who=ada["email"], tenant_id=world.tenant.pk) == []

    def test_superusers_find_what_was_typed_by_naming_the_tenant(self, world, rival):
        typed = f"nobody-{secrets.token_hex(4)}"
        attempt(world, typed)
        elsewhere, limited = management.superuser(rival), management.administrator(rival)

        assert found(elsewhere, identifier=typed, tenant_id=world.tenant.pk) == ["SignIn.Password"]
        assert found(elsewhere, identifier=typed) == []
        assert found(limited, identifier=typed, tenant_id=world.tenant.pk) == []

    @pytest.mark.parametrize("text", ["%", "' or 1=1 --", "x" * 3000, "@", "+", " ", "\ud7ff"])
    def test_bad_input_finds_nothing(self, admin, text):
        assert found(admin, who=text) == []

    def test_an_empty_one_is_no_filter(self, admin, ada):
        assert len(found(admin, who="")) > len(EVERYTHING)


class TestSearch:
    def events(self, operator, text, **query):
        page = text_of(operator.get("/admin/audit/entry/", params={"q": text, "when": "all", **query}))
        return sorted(re.findall(r'class="field-key">([^<]+)<', page))

    @pytest.mark.parametrize("name", ["id", "username", "email", "phone"])
    def test_finds_a_user_by_every_identifier(self, operator, ada, name):
        assert self.events(operator, ada[name]) == sorted(EVERYTHING)

    def test_finds_users_by_a_part_of_the_name(self, operator, ada):
        assert set(self.events(operator, "lovelace")) == set(EVERYTHING)

    def test_finds_an_application_by_name_client_id_and_id(self, world, operator):
        name = f"Shop {secrets.token_hex(4)}"
        client = world.application(name=name)
        client.redeem(world.browser().code_for(client, world.user()))

        for text in (name.upper(), client.client_id, str(client.application.pk)):
            assert "Token.Exchange" in self.events(operator, text)

    def test_finds_a_reference(self, world, operator):
        reference = attempt(world, "somebody").headers["X-Request-Id"]

        assert self.events(operator, reference) == ["SignIn.Password"]

    def test_finds_an_address_in_every_notation(self, world, operator):
        with context.new_request(ip=IP, user_agent="", request_id=""), context.tenant(world.tenant.pk):
            log.record(Event.USER_EXPORT, id="x")

        assert self.events(operator, "2001:0DB8:0::7") == ["User.Export"]
        assert self.events(operator, "2001:db8::8") == []

    @pytest.mark.parametrize("text", ["%", "no such name", str(ids.new()), "x" * 3000, "٣"])
    def test_finds_nothing_by_what_nobody_has(self, operator, text):
        assert self.events(operator, text) == []

    def test_says_when_more_users_match_than_are_searched(self, world, operator):
        with world.active():
            for _ in range(51):
                world.user(f"many-{secrets.token_hex(6)}")

        page = text_of(operator.get("/admin/audit/entry/", params={"q": "many-"}))

        assert "More than 50 users or applications match." in page
        assert "More than 50" not in text_of(operator.get("/admin/audit/entry/", params={"q": "lovelace"}))

    def test_shows_nothing_of_another_tenant(self, ada, rival):
        operator = operators.at(rival, administrator(tenants=[rival.tenant.slug]))

        for name in ("id", "username", "email", "phone", "name"):
            assert self.events(operator, ada[name]) == []

    def test_the_export_has_what_was_found(self, operator, ada):
        rows = operator.get("/admin/audit/entry/export/", params={"q": ada["email"], "when": "all"}).text

        assert len(rows.splitlines()) == 1 + len(EVERYTHING)

    def test_the_link_of_the_user_page_finds_all(self, operator, ada):
        page = text_of(operator.get(f"/admin/users/user/{ada['id']}/change/"))
        href = html.unescape(re.findall(r'href="(/admin/audit/entry/\?[^"]+)"', page)[0])

        shown = text_of(operator.get(href))

        assert shown.count('class="field-key"') == len(EVERYTHING)
