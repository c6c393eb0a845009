"""People sign in, stay and sign out through clients that others wrote."""

import html
import re

import pytest

from tests.support import clients
from tests.support.independent import bearer, verified
from tests.support.relying_parties import new_origin, running, shown


def registered(world, client, origin):
    return world.application(
        client.type,
        redirect_uris=[f"{origin}{client.callback}"],
        post_logout_redirect_uris=[f"{origin}/", f"{origin}/logged-out"],
    )


@pytest.mark.parametrize("client", clients.BROWSED, ids=lambda client: client.title)
def test_signs_people_in_and_out(ada, secured, sign_with, client):
    origin = new_origin()
    application = registered(ada.world, client, origin)
    sign_with(application, client.algorithm)
    with running(client.program, application, secured, origin):
        signs_in(ada, client, origin)
        if "userinfo" not in client.lacks:
            asks_for_claims(ada, client, origin)
        if "refresh" not in client.lacks:
            refreshes(ada, client, origin)
        if "revocation" not in client.lacks:
            revokes(ada, client, origin)
        signs_out(ada, client, origin)


# Each says it on another line of what it shows.
@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("express-openid-connect", "<pre>(.*?)<br>"),
        ("mozilla-django-oidc", '<pre class="exception_value">(.*?)</pre>'),
        ("social-auth-app-django", '<pre class="exception_value">(.*?)</pre>'),
    ],
)
def test_a_client_without_its_setting_for_ES256_refuses_every_sign_in(ada, secured, refusals, name, said):
    origin, client = new_origin(), clients.named(name)
    with running(client.program, registered(ada.world, client, origin), secured, origin, leave_out="ES256"):
        page = ada.enter(ada.open(f"{origin}/login"))
        assert "sub" not in shown(ada.open(f"{origin}/"))
    assert str(page.url).startswith(f"{origin}{client.callback}?")
    assert page.is_error
    refusals[name] = html.unescape(re.findall(said, page.text)[0])


@pytest.mark.parametrize(
    "name",
    [
        "openid-client",
        "oauth4webapi",
        "@auth/core",
        "Authlib",
        "express-openid-connect",
        "social-auth-app-django",
    ],
)
def test_with_RS256_needs_no_line_about_algorithms(ada, secured, sign_with, name):
    origin, client = new_origin(), clients.named(name)
    application = registered(ada.world, client, origin)
    sign_with(application, "RS256")
    with running(client.program, application, secured, origin, leave_out="ES256"):
        signs_in(ada, client, origin)


def test_next_auth_refuses_ES256(ada, secured, refusals):
    origin, client = new_origin(), clients.named("next-auth")
    with running(client.program, registered(ada.world, client, origin), secured, origin):
        page = ada.enter(ada.open(f"{origin}/login"))
        assert "error=OAuthCallback" in str(page.url)
        assert "sub" not in shown(ada.open(f"{origin}/"))
    log = secured.authority.with_name(f"{client.program}.log").read_text()
    refusals["next-auth"] = re.findall(r"unexpected JWT alg received, expected \w+, got: \w+", log)[0]


def signs_in(person, client, origin):
    assert "sub" not in (shown(person.open(f"{origin}/")) or {})
    seen = shown(person.enter(person.open(f"{origin}/login")))
    assert seen["sub"] == str(person.user.pk)
    client.done.append("login")


def asks_for_claims(person, client, origin):
    seen = shown(person.open(f"{origin}/userinfo"))
    assert (seen["sub"], seen["email"]) == (str(person.user.pk), "ada@example.com")
    client.done.append("userinfo")


def refreshes(person, client, origin):
    before, after = shown(person.open(f"{origin}/")), shown(person.open(f"{origin}/refresh"))
    assert after["sub"] == str(person.user.pk)
    assert after["access_token"] != before["access_token"]
    if client.rotates:
        assert after["refresh_token"] != before["refresh_token"]
    asked = person.browser.get("/oidc/userinfo", headers=bearer(after["access_token"]))
    assert asked.status_code == 200, asked.text
    client.done.append("refresh")


def revokes(person, client, origin):
    shown(person.open(f"{origin}/revoke"))
    assert person.open(f"{origin}/refresh").status_code == 500
    client.done.append("revocation")


def signs_out(person, client, origin):
    assert person.is_signed_in
    page = person.open(f"{origin}/logout")
    if client.asked_to_confirm:
        page = person.confirm(page)
    seen = shown(page)
    assert "sub" not in (seen or {})
    assert not person.is_signed_in
    client.done.append("logout")


def test_a_native_application_listens_on_whatever_port_is_free(ada, secured):
    client, origin = clients.NATIVE, new_origin()
    registered = ada.world.application("Native", redirect_uris=["http://127.0.0.1/callback"])
    with running(client.program, registered, secured, origin):
        page = ada.enter(ada.open(f"{origin}/login"))
        assert page.url.port not in {None, 80}
        assert "Close your browser" in page.text
        assert shown(ada.open(f"{origin}/"))["sub"] == str(ada.user.pk)
        client.done.append("login")
        refreshes(ada, client, origin)
        revokes(ada, client, origin)


@pytest.mark.parametrize("client", clients.MACHINES, ids=lambda client: client.title)
def test_machines_act_in_their_own_name(acme, ada, secured, client):
    origin, registered = new_origin(), acme.application("MachineToMachine")
    with running(client.program, registered, secured, origin):
        tokens = shown(ada.open(f"{origin}/machine"))
    claims = verified(tokens["access_token"], ada.browser.get("/.well-known/jwks.json").json())
    assert (claims["sub"], claims["aud"]) == (registered.client_id, acme.issuer)
    client.done.append("client credentials")
