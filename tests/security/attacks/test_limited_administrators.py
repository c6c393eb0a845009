"""Administrators who may only read, or only help: nothing that they send, opens or prepares goes further."""

import re
import secrets
from typing import Any

import pytest

from audit.models import Entry
from identity.users.models import User
from management.administrators import support_rights
from management.administrators.models import Administrator
from tests.support import cast, codes, management, operators, surface
from tests.support.admin_pages import first_of, furnish
from tests.support.all_rows import changed_since, everything
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of, result_of
from tests.support.management_routes import all_routes
from tests.support.operators import address_of, administrator, pages, text_of
from tests.support.tenant_rows import changed, rows_of

_GIVEN_TO_SUPPORT = {
    *("POST /users", "PATCH /users/:pk/suspend", "POST /users/:pk/sign-out"),
    *("DELETE /users/:pk/sessions", "DELETE /users/:pk/sessions/:session_pk"),
    *("DELETE /users/:pk/grants", "DELETE /users/:pk/grants/:grant_pk"),
    "DELETE /users/:pk/locks",
}
_PEOPLE = {
    "users.User",
    "users.UserCount",
    "users.UserDayCount",
    "identity_sessions.Session",
    "grants.RefreshFamily",
}
_TYPED = {"username": "eve", "password": "correct horse battery", "name": "Eve", "email": "eve@eve.example"}


def caller_of(who: Administrator, world: Any) -> management.Caller:
    return management.Caller(world, management.administrator_token(who.username, PASSWORD, world.address))


def support_of(world: Any) -> tuple[management.Caller, operators.Operator]:
    who = administrator(role="support", tenants=[world.tenant.slug])
    return caller_of(who, world), operators.at(world, who)


def token_on(page: Any) -> str:
    return str(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', text_of(page))[0])


@pytest.mark.parametrize("role", ["auditor", "support"])
def test_attack_no_form_that_the_role_was_not_given_does_anything(acme: Any, role: str) -> None:
    """An administrator has no form for what they may not do, and sends the form of another administrator."""
    furnish(acme)
    root = operators.at(acme)
    mine = operators.at(acme, administrator(role=role, is_superuser=True))
    proof = {"csrfmiddlewaretoken": token_on(mine.get("/admin/two-step/")), "drawn_for": acme.tenant.pk}
    given = support_rights.OPERATIONS if role == "support" else {}
    before, tried = everything(), 0

    for kind in pages():
        row = first_of(kind, acme)
        for operation in operators.operations(kind):
            if operation.name in given.get(kind.opts.model_name, ()):
                continue
            at = (row.pk,) if operation.needs_row else ()
            path = address_of(kind, *at, "do", operation.name)
            drawings = [href for _, href in kind.previewer.get_links(operation, row)]
            for address in (path, *drawings):
                assert mine.http.post(address, data=proof | _TYPED).status_code == 403, address
                tried += 1
            if operation.bulk_label:
                ticked = {"action": operation.name, "_selected_action": str(row.pk), "confirmed": "yes"}
                mine.http.post(address_of(kind), data=proof | ticked)
        assert mine.http.post(address_of(kind, row.pk, "change"), data=proof | _TYPED).status_code == 403

    assert tried > 50
    assert changed_since(before) == {}
    assert root.get("/admin/users/user/").status_code == 200


@pytest.mark.parametrize("role", ["auditor", "support"])
def test_attack_no_route_that_the_role_was_not_given_writes_anything(acme: Any, role: str) -> None:
    estate = surface.Estate(acme)
    routes = [one for one in all_routes() if one.group == "management" and one.method != "GET"]
    calls = [(route, *estate.call(route)) for route in routes]
    caller = caller_of(administrator(role=role, tenants=[acme.tenant.slug]), acme)
    before = rows_of(acme)

    answers = {str(route): caller.request(route.method, path, json=body) for route, path, body in calls}

    # A PATCH of every field of a user has the address, which support may not change.
    given = _GIVEN_TO_SUPPORT if role == "support" else set()
    assert {name for name, answer in answers.items() if answer.status_code != 403} == given
    found = changed(before, rows_of(acme))
    people = _PEOPLE if role == "support" else set()
    assert set(found) <= {"audit.Entry"} | people


class TestAccountsPreparedBySupport:
    """Support sets no user's password or address. It creates users, who have both."""

    @pytest.fixture
    def acme(self, acme: Any) -> Any:
        return codes.reachable(acme)

    def create(self, acme: Any, by: str, email: str) -> str:
        caller, operator = support_of(acme)
        username = f"u-{secrets.token_hex(4)}"
        fields = {"username": username, "password": PASSWORD, "email": email}
        if by == "api":
            return str(caller.created("/users", **fields)["username"])
        answer = operator.submit("/admin/users/user/do/create/", **fields)
        assert answer.status_code == 303, text_of(answer)
        return username

    @pytest.mark.parametrize("by", ["api", "site"])
    def test_attack_the_password_that_support_chose_ends_when_the_owner_proves_the_address(
        self, acme: Any, by: str
    ) -> None:
        email = codes.new_email()
        username = self.create(acme, by, email)
        insider, owner = acme.browser(), acme.browser()
        credentials = {"identifier": username, "password": PASSWORD}
        assert insider.post("/api/interaction/sign-in", json=credentials).status_code == 200

        codes.proven(owner, email, "sign_in")

        assert owner.get("/account").status_code == 200
        assert insider.get("/account").status_code != 200
        assert insider.post("/api/interaction/sign-in", json=credentials).status_code == 401

    @pytest.mark.parametrize("by", ["api", "site"])
    def test_attack_support_takes_no_address_away_from_somebody(self, acme: Any, by: str) -> None:
        email = codes.new_email()
        person = {"username": f"u-{secrets.token_hex(4)}", "password": PASSWORD, "email": email}
        codes.experience(acme, sign_up={"identifiers": ["username", "email"], "verify": False})
        result_of(acme.browser().post("/api/interaction/register", json=person))
        caller, operator = support_of(acme)
        fields = {"username": f"u-{secrets.token_hex(4)}", "password": PASSWORD, "email": email}

        if by == "api":
            refusal_of(caller.post("/users", **fields), 400)
        else:
            assert operator.submit("/admin/users/user/do/create/", **fields).status_code == 400

        with acme.active():
            assert User.objects.get(email=email).username == person["username"]

    def test_what_an_administrator_creates_is_vouched_for_as_before(self, acme: Any) -> None:
        email = codes.new_email()
        admin = caller_of(administrator(tenants=[acme.tenant.slug]), acme)
        made = admin.created("/users", username="ada", password=PASSWORD, email=email)

        codes.proven(acme.browser(), email, "sign_in")

        credentials = {"identifier": made["username"], "password": PASSWORD}
        assert acme.browser().post("/api/interaction/sign-in", json=credentials).status_code == 200


def test_attack_a_user_named_like_an_administrator_shows_nothing_of_the_administrator(address: str) -> None:
    """A page of a user shows what failed with the user's identifiers, which an administrator may share."""
    world, victim = cast.default_world(), administrator()
    slug = world.tenant.slug
    wrong = {"username": victim.username, "password": "not this one"}
    assert world.post("/api/admin/sign-in", json=wrong).status_code == 401
    caller = caller_of(administrator(tenants=[slug]), world)
    user = caller.created("/users", username=victim.username, password=PASSWORD)
    failed = {"identifier": victim.username, "password": "nor this one"}
    assert world.browser().post("/api/interaction/sign-in", json=failed).status_code == 401
    operator = operators.at(world, administrator(role="auditor", tenants=[slug]))

    shown = text_of(operator.get(f"/admin/users/user/{user['id']}/change/"))

    assert Entry.objects.filter(key="Admin.SignIn", payload__username=victim.username).exists()
    # The attempt at the account of the user, and none at that of the administrator.
    assert shown.count("The password is wrong") == 1
    assert "Admin.SignIn" not in shown


@pytest.mark.parametrize("kind", ["administrators/administrator", "tenants/tenant"])
def test_attack_nobody_but_superusers_learns_which_ids_exist_above_tenants(
    acme: Any, rival: Any, kind: str
) -> None:
    operator = operators.at(acme, administrator(role="administrator", tenants=[acme.tenant.slug]))
    known = str(administrator().pk) if "administrator/" in f"{kind}/" else rival.tenant.pk
    unknown = "999999999" if known.isdigit() else str(secrets.token_hex(8))
    prefix = next(address_of(one) for one in pages() if address_of(one).endswith(f"/{kind.split('/')[1]}/"))

    for below in ("change/", "do/delete/", "do/change/"):
        answers = [operator.get(f"{prefix}{pk}/{below}").status_code for pk in (known, unknown)]
        assert answers == [403, 403], below
