"""People sign in, stay and sign out through clients that others wrote."""

import pytest

from tests.support.independent import bearer
from tests.support.relying_parties import new_origin, running, shown

TRADITIONAL = ["openid_client.mjs"]


def journey(program, person, client, origin, secured, did):
    """Sign in, ask for claims, refresh, sign out; ``did`` is told what worked."""
    userinfo = f"{person.world.address}/oidc/userinfo"
    with running(program, client, secured, origin):
        first = shown(person.enter(person.open(f"{origin}/login")))
        assert first["sub"] == str(person.user.pk)
        did("login")
        if True:
            asked = shown(person.open(f"{origin}/userinfo"))
            assert (asked["sub"], asked["email"]) == (first["sub"], "ada@example.com")
            did("userinfo")
        if True:
            later = shown(person.open(f"{origin}/refresh"))
            assert later["sub"] == first["sub"]
            assert later["access_token"] != first["access_token"]
            assert later["refresh_token"] != first["refresh_token"]
            assert person.browser.get(userinfo, headers=bearer(later["access_token"])).status_code == 200
            did("refresh")
        assert person.is_signed_in
        end = person.open(f"{origin}/logout")
        assert str(end.url).startswith(f"{origin}/"), end.text
        assert "sub" not in shown(end)
        assert not person.is_signed_in
        did("logout")


@pytest.mark.parametrize("program", TRADITIONAL)
def test_signs_people_in_and_out(ada, secured, program):
    origin = new_origin()
    client = ada.world.application(
        redirect_uris=[f"{origin}/callback"], post_logout_redirect_uris=[f"{origin}/"]
    )
    journey(program, ada, client, origin, secured, print)
