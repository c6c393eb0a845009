"""Administrators with the role support, who change claims about users (AP43)."""

import secrets

import pytest
from django.conf import settings

from tests.support import management
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of, result_of
from tests.support.operators import administrator

NAMES = {"given_name": "Ada", "family_name": "King", "middle_name": "Augusta", "nickname": "A"}
pytestmark = pytest.mark.usefixtures("default_tenant")


@pytest.fixture
def support(acme):
    who = administrator(role="support", tenants=[acme.tenant.slug])
    token = management.administrator_token(who.username, PASSWORD, settings.BASE_URL)
    return management.Caller(acme, token)


CLAIMS = pytest.mark.parametrize(
    "claim",
    [
        {"website": "https://evil.example"},
        {"profile": "https://evil.example"},
        {"gender": "x"},
        {"birthdate": "1990-01-01"},
        {"zoneinfo": "Europe/Zurich"},
        {"locale": "de"},
        {"address": {"country": "US"}},
        {"given_name": "Ada", "birthdate": ""},
    ],
    ids=str,
)


@CLAIMS
def test_attack_AP43_support_changes_no_other_claims(acme, support, claim):
    path = f"/users/{acme.user().pk}"
    before = result_of(support.get(path))

    refusal_of(support.patch(path, profile=claim), 403)

    assert result_of(support.get(path)) == before


@CLAIMS
def test_attack_AP43_support_creates_no_user_with_them(acme, support, claim):
    name = f"u{secrets.token_hex(4)}"

    refusal_of(support.post("/users", username=name, password=PASSWORD, profile=claim), 403)

    assert result_of(support.get("/users", username=name))["data"] == []


def test_attack_AP43_support_creates_users_with_names_and_pictures(acme, support):
    others = {"name": "Ada King", "avatar": "https://example.com/a.png", "custom_data": {"a": 1}}
    new = {"username": f"u{secrets.token_hex(4)}", "password": PASSWORD, "profile": NAMES, **others}

    made = support.created("/users", **new)

    shown = result_of(support.get(f"/users/{made['id']}"))
    assert {name: shown["profile"][name] for name in NAMES} == NAMES
    assert [shown[name] for name in others] == [*others.values()]


def test_attack_AP43_support_changes_names_and_pictures(acme, support):
    path = f"/users/{acme.user().pk}"

    changed = result_of(support.patch(path, profile=NAMES, name="Ada King", custom_data={"a": 1}))

    assert {name: changed["profile"][name] for name in NAMES} == NAMES
    result_of(support.patch(path, given_name="Augusta"))
    result_of(support.patch(path, avatar="https://example.com/a.png"))
    assert support.patch(path, profile="x").status_code == 400


def test_attack_AP43_administrators_change_all_claims(acme):
    root = management.superuser(acme)

    changed = result_of(root.patch(f"/users/{acme.user().pk}", profile={"birthdate": "1990-01-01"}))

    assert changed["profile"]["birthdate"] == "1990-01-01"
