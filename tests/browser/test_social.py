"""Signing in with an account elsewhere, in a real browser."""

from html import escape
from urllib.parse import urlencode

import jwt
import pytest
from playwright.sync_api import Page, Route, expect

from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.social.models import SocialIdentity
from oidc.applications.models import Application
from tests.support import apple
from tests.support.cast import PASSWORD, RelyingParty, World, query_of


@pytest.fixture
def elsewhere(rival: World, loopback_server: str) -> World:
    """The tenant that is the provider, with somebody who has an account there."""
    world = rival.at(loopback_server)
    world.user("ada", name="Ada Lovelace")
    return world


@pytest.fixture
def here(acme: World, elsewhere: World, loopback_server: str, settings) -> World:
    world = acme.at(loopback_server)
    settings.DEVELOPMENT = True
    client = elsewhere.application(
        name="Acme here", is_third_party=True, redirect_uris=[f"{world.address}/social/callback"]
    )
    with world.active():
        made = connectors.create(
            connector_id="oidc",
            type="Social",
            enabled=True,
            config={
                "issuer": elsewhere.issuer,
                "client_id": client.client_id,
                "client_secret": client.secret,
                "display_name": "Elsewhere",
            },
            is_proven=True,
        )
    with elsewhere.active():
        redirect_uris = [f"{world.address}/social/callback/{made.pk}"]
        Application.objects.filter(pk=client.application.pk).update(redirect_uris=redirect_uris)
    return world


def start(page: Page, client: RelyingParty) -> None:
    page.goto(f"{client.world.address}/oidc/authorize?{urlencode(client.request())}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Payroll")


def sign_in_there(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Acme here")
    page.get_by_label("Username, email or phone").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def subject(client: RelyingParty, address: str) -> str:
    token = client.redeem(query_of(address)["code"]).json()["id_token"]
    return str(jwt.decode(token, options={"verify_signature": False})["sub"])


def test_one_button_there_and_back_to_the_application(here, screens, scripts):
    client = here.application(name="Payroll")
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("link", name="Continue with Elsewhere").click()
    sign_in_there(page)
    with page.expect_request("https://rp.example/callback?**") as back:  # out of reach
        page.get_by_role("button", name="Allow").click()

    with here.active():
        assert subject(client, back.value.url) == str(User.objects.get().pk)
        assert SocialIdentity.objects.get().name == "Ada Lovelace"


def test_the_keyboard_reaches_the_button_after_the_form(here, screens):
    page = screens.open()
    page.goto(f"{here.address}/sign-in")
    link = page.get_by_role("link", name="Continue with Elsewhere")
    page.get_by_role("button", name="Sign in", exact=True).focus()

    for _ in range(3):  # past what helps with the password, and the code
        page.keyboard.press("Tab")

    expect(link).to_be_focused()
    box = link.bounding_box()
    assert box is not None
    assert box["height"] >= 44
    assert link.inner_text() == "Continue with Elsewhere"


def test_somebody_who_does_not_go_on_comes_back_to_where_they_were(here, screens):
    client = here.application(name="Payroll")
    page = screens.open()
    start(page, client)
    waiting = page.url

    page.get_by_role("link", name="Continue with Elsewhere").click()
    sign_in_there(page)
    page.get_by_role("button", name="Deny").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in canceled")
    page.get_by_role("link", name="Go back").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Payroll")
    assert page.url == waiting


# Pages of another site: the way there, and the answer that it posts at once, as Apple's page does.
LEADS = '<meta http-equiv="refresh" content="0;url={}">'
POSTS = """<form method="post" action="{redirect_uri}"><input name="state" value="{state}">
<input name="error" value="user_cancelled_authorize"></form><script>document.forms[0].submit()</script>"""


def lead(route: Route) -> None:
    """Turn the redirect into a page, because the next request of a redirect cannot be answered here."""
    answered = route.fetch(max_redirects=0)
    body = LEADS.format(escape(answered.headers["location"]))
    route.fulfill(response=answered, status=200, content_type="text/html", body=body)


def post_back(route: Route) -> None:
    body = POSTS.format(**query_of(route.request.url))
    route.fulfill(content_type="text/html", body=body)


def test_an_answer_that_another_site_posts_belongs_to_the_browser(here, screens):
    """Its form comes without cookies, so only the redirect can know the browser."""
    with here.active():
        connectors.create(
            connector_id="apple", type="Social", enabled=True, config=apple.CONFIG, is_proven=True
        )
    page = screens.open()
    page.route("**/social/apple", lead)
    page.route("https://appleid.apple.com/**", post_back)
    page.goto(f"{here.address}/sign-in")

    with page.expect_request(lambda asked: asked.method == "POST") as posted:
        page.get_by_role("link", name="Continue with Apple").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sign-in canceled")
    assert "gatehouse-browser" not in posted.value.all_headers().get("cookie", "")
    assert query_of(page.url).keys() == {"state", "error"}
