"""keycloak-js as npm has it, which sends cookies with its token requests, in a real browser."""

import json

from playwright.sync_api import expect

from tests.support.cast import PASSWORD
from tests.support.clients import KEYCLOAK_JS as CLIENT
from tests.support.relying_parties import new_origin, running


def profile(page):
    expect(page.locator("output")).not_to_be_empty()
    return json.loads(page.locator("output").inner_text())


def test_signs_in_stays_signed_in_and_signs_out(ada, secured, screens):
    origin = new_origin()
    client = ada.world.application(
        "SPA", redirect_uris=[f"{origin}/"], post_logout_redirect_uris=[f"{origin}/"]
    )
    with running("keycloak_js.mjs", client, secured, origin):
        # The certificate of the run is the only one that this browser does not know.
        page = screens.open(ignore_https_errors=True)
        signs_in(page, ada, origin)
        stays_signed_in(page, ada, origin)
        signs_out(page, ada, origin)


def signs_in(page, person, origin):
    page.goto(origin)
    assert profile(page) == {}
    page.evaluate("void keycloak.login()")
    page.get_by_label("Username, email or phone").fill(person.user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{origin}/**")
    assert profile(page)["sub"] == str(person.user.pk)
    CLIENT.done.append("login")
    assert page.evaluate("keycloak.loadUserInfo()")["email"] == "ada@example.com"
    CLIENT.done.append("userinfo")


def stays_signed_in(page, person, origin):
    before = page.evaluate("keycloak.token")
    page.goto(f"{origin}/?again")
    assert profile(page)["preferred_username"] == person.user.username
    assert page.evaluate("keycloak.token") != before
    CLIENT.done.append("refresh")


def signs_out(page, person, origin):
    page.evaluate("void keycloak.logout()")
    expect(page.locator("output")).to_have_text("{}")
    assert page.url.startswith(f"{origin}/")
    page.goto(f"{person.world.address}/account")
    assert page.url.startswith(f"{person.world.address}/sign-in")
    CLIENT.done.append("logout")
