"""A single-page application in a real browser: everything it asks crosses origins."""

import json

from playwright.sync_api import expect

from tests.support.cast import PASSWORD
from tests.support.clients import OIDC_CLIENT_TS as CLIENT
from tests.support.relying_parties import new_origin, running

RENEWED = "before => manager.getUser().then(user => user.access_token !== before && user.access_token)"
REFUSED = "ask => ask().then(() => 'worked', error => error.error ?? error.name)"


def profile(page):
    expect(page.locator("output")).not_to_be_empty()
    return json.loads(page.locator("output").inner_text())


def test_signs_in_renews_in_the_background_revokes_and_signs_out(ada, secured, screens):
    origin = new_origin()
    client = ada.world.application(
        "SPA",
        redirect_uris=[f"{origin}/callback", f"{origin}/silent"],
        post_logout_redirect_uris=[f"{origin}/"],
    )
    with running("oidc_client_ts.mjs", client, secured, origin):
        # The certificate of the run is the only one that this browser does not know.
        page = screens.open(ignore_https_errors=True)
        signs_in(page, ada, origin)
        renews(page)
        revokes(page, ada, client)
        signs_out(page, ada, origin)


def signs_in(page, person, origin):
    page.goto(origin)
    assert profile(page) == {}
    page.evaluate("void manager.signinRedirect()")
    page.get_by_label("Username, email or phone").fill(person.user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{origin}/")
    CLIENT.done.append("login")
    # Asked for as soon as somebody is back, from the other origin.
    assert (profile(page)["sub"], profile(page)["email"]) == (str(person.user.pk), "ada@example.com")
    CLIENT.done.append("userinfo")


def renews(page):
    first = page.evaluate("manager.getUser().then(user => user.access_token)")
    page.wait_for_function(RENEWED, arg=first)
    CLIENT.done.append("refresh")
    # In a frame of another site no cookie of Gatehouse is sent: nobody is signed in there.
    assert page.evaluate(f"({REFUSED})(() => inFrame.signinSilent())") == "login_required"
    page.evaluate("manager.stopSilentRenew()")


def revokes(page, person, client):
    held = page.evaluate("manager.getUser().then(user => user.refresh_token)")
    page.evaluate("manager.revokeTokens()")
    form = {"grant_type": "refresh_token", "refresh_token": held, "client_id": client.client_id}
    refused = person.browser.post("/oidc/token", data=form)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    CLIENT.done.append("revocation")


def signs_out(page, person, origin):
    page.evaluate("void manager.signoutRedirect()")
    expect(page.locator("output")).to_have_text("{}")
    assert page.url == f"{origin}/"
    page.goto(f"{person.world.address}/account")
    assert page.url.startswith(f"{person.world.address}/sign-in")
    CLIENT.done.append("logout")


def test_shows_no_page_of_ours_in_a_frame(ada, secured, chromium):
    origin = new_origin()
    client = ada.world.application("SPA", redirect_uris=[f"{origin}/callback"])
    with running("oidc_client_ts.mjs", client, secured, origin):
        page = chromium.new_context(ignore_https_errors=True).new_page()
        heard = []
        page.on("console", lambda message: heard.append(message.text))
        page.goto(origin)

        timed_out = page.evaluate(f"({REFUSED})(() => inFrame.signinSilent({{ prompt: 'login' }}))")

        assert timed_out == "ErrorTimeout"
        assert any("frame-ancestors 'none'" in text for text in heard), heard
        page.context.close()
