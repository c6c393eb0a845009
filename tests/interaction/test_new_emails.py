"""Email addresses with letters beyond ASCII before the @: new ones only where the tenant allows them."""

import pytest

from identity.core.errors import Invalid
from identity.users import services as users
from tests.support import codes
from tests.support.cast import PASSWORD
from tests.support.management import refusal_of, superuser

LONG_S = "\u017fam@example.com"


def register(world, email):
    codes.experience(world, sign_up={"identifiers": ["email"], "password": True, "verify": False})
    return world.browser().post(codes.REGISTER, json={"email": email, "password": PASSWORD})


def test_decision_N7_nobody_registers_with_one(acme):
    refused = register(acme, LONG_S)

    assert refused.status_code == 400
    assert "email" in refused.json()["message"]
    assert "ASCII" in refused.json()["message"]


def test_decision_N7_nor_does_an_administrator_create_one(acme):
    api = superuser(acme)

    refusal_of(api.post("/users", username="sam", email=LONG_S, password=PASSWORD), 400)
    with acme.active(), pytest.raises(Invalid):
        users.create_from_provider(name="Sam", email=LONG_S, avatar=None)


def test_decision_N7_where_the_tenant_allows_them_they_are_taken(acme):
    codes.experience(acme, account={"non_ascii_email_names": True})

    assert register(acme, LONG_S).status_code == 200


def test_decision_N7_those_that_exist_keep_working(acme):
    codes.experience(acme, account={"non_ascii_email_names": True})
    user = acme.user(email=LONG_S)
    codes.experience(acme, account={"non_ascii_email_names": False})

    with acme.active():
        users.change(user, {"name": "Sam", "email": LONG_S}, is_proven=True)
    signed_in = acme.browser().post(
        "/api/interaction/sign-in", json={"identifier": LONG_S, "password": PASSWORD}
    )

    assert signed_in.status_code == 200


def test_a_domain_beyond_ascii_is_always_taken(acme):
    assert acme.user(email="sam@b\u00fccher.example").email
