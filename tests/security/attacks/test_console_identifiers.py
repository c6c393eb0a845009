"""What people type to say who they are, as the log keeps it (AV21, AP25, N17)."""

import secrets

import pytest

from audit.models import Entry
from management.administrators.models import Role
from tests.support import management, operators
from tests.support.cast import PASSWORD, default_world
from tests.support.management import result_of

SECRET = "hunter2-My-Bank-Pass!"


def entries(world, key):
    found = Entry.objects.filter(tenant_id=world.tenant.pk, key=key)
    return list(found.order_by("created_at", "id"))


def attempt(world, identifier, password="wrong"):
    return world.browser().post(
        "/api/interaction/sign-in", json={"identifier": identifier, "password": password}
    )


@pytest.mark.parametrize("typed", [SECRET, "hunter2@My-Bank-Pass", "+49 151 0815 4711"])
def test_attack_AV21_a_password_typed_as_the_username_is_nowhere_in_the_log(acme, typed):
    assert attempt(acme, typed).status_code == 401

    (entry,) = entries(acme, "SignIn.Password")
    assert typed not in str(vars(entry))
    assert entry.payload["username"] == f"hash:{entry.identifier_key}"
    assert entry.payload["error"] == "invalid_credentials"


def test_attack_AV21_nor_is_one_that_an_administrator_typed(acme):
    secret = f"{SECRET}{secrets.token_hex(4)}"
    body = {"username": secret, "password": "wrong"}
    before = Entry.objects.filter(key="Admin.SignIn").count()

    management.refusal_of(management.connection().post(f"{acme.address}/api/admin/sign-in", json=body), 401)

    written = Entry.objects.filter(key="Admin.SignIn").order_by("-created_at")
    assert written.count() == before + 1
    assert secret not in str(list(written.values()))
    assert written[0].payload["username"].startswith("hash:")


def test_attack_AV21_nor_is_a_strangers_address_that_a_code_was_asked_for(acme):
    browser, address = acme.browser(), f"{secrets.token_hex(8)}@example.com"
    body = {"identifier": address, "identifier_type": "email", "interaction_type": "sign_in"}

    browser.post("/api/interaction/verification-code", json=body)
    browser.post("/api/interaction/verification-code/verify-code", json={**body, "code": "123456"})
    browser.post("/api/interaction/forgot-password", json={"identifier": address, "new_password": SECRET})

    assert address not in str(list(Entry.objects.filter(tenant_id=acme.tenant.pk).values()))


def test_decision_N17_what_somebody_known_typed_stays_text(acme):
    user = acme.user()

    attempt(acme, user.username)
    attempt(acme, user.username, "correct horse battery staple")
    acme.browser().sign_in(user)

    failed, *_, right = entries(acme, "SignIn.Password")
    assert [failed.payload["username"], right.payload["username"]] == [user.username, user.identifier]
    assert [failed.payload["result"], right.payload["result"]] == ["failed", "success"]
    assert failed.identifier_key == right.identifier_key


def test_decision_N17_support_finds_failures_by_what_was_typed(acme, rival):
    user = acme.user(f"Ann-{secrets.token_hex(4)}")
    for typed in (user.username, user.username.upper(), f"{user.username}x"):
        attempt(acme, typed)
    attempt(rival, user.username)
    admin = management.superuser(acme)

    found = result_of(admin.get("/logs", identifier=user.username.swapcase()))

    assert found["total"] == 2
    assert {row["payload"]["username"] for row in found["data"]} == {user.username, user.username.upper()}
    assert result_of(admin.get("/logs", identifier="nobody"))["total"] == 0
    assert result_of(admin.get("/logs", identifier=f"{user.username}x"))["total"] == 1


def test_decision_N17_and_at_the_operators_site(acme):
    user = acme.user(f"Ann-{secrets.token_hex(4)}")
    attempt(acme, user.username)
    attempt(acme, SECRET)
    operator = operators.at(acme)

    listed = operator.get("/admin/audit/entry/", params={"q": user.username}).text
    strangers = operator.get("/admin/audit/entry/", params={"q": SECRET}).text
    page = operator.get(f"/admin/users/user/{user.pk}/change/").text

    assert listed.count("the password is wrong") == 1
    assert strangers.count("nobody has this identifier") == 1
    assert "Latest attempts" in page
    assert "The password is wrong" in page


def test_attack_AP25_which_addresses_are_those_of_administrators(address):
    """I read the log of the default tenant, and try addresses there to see which of them it can name."""
    default = default_world()
    who = operators.administrator()
    body = {"username": who.username, "password": PASSWORD}
    signed_in = management.connection().post(f"{default.address}/api/admin/sign-in", json=body)
    reader = operators.Operator(operators.administrator(tenants=["default"], role=Role.AUDITOR))
    reader.sign_in()

    assert (signed_in.status_code, attempt(default, who.username).status_code) == (200, 401)
    pages = [reader.get("/admin/").text, reader.get("/admin/audit/entry/").text]

    assert all("Unknown identifier" in page for page in pages)
    assert not any(who.username in page for page in pages)
    assert who.username in operators.at(default).get("/admin/audit/entry/").text
