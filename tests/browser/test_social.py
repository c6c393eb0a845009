"""Signing in with an account elsewhere, in a real browser."""

from collections.abc import Iterator
from urllib.parse import urlencode

import jwt
import pytest
from playwright.sync_api import Page, expect

from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.social.models import SocialIdentity
from oidc.applications.models import Application
from tests.support import second
from tests.support.cast import PASSWORD, RelyingParty, World, query_of


@pytest.fixture(scope="module")
def server(address: str) -> Iterator[str]:
    """A server that may talk to loopback, where it is its own provider."""
    with second.running(DEBUG="true") as served:
        yield served


@pytest.fixture
def elsewhere(rival: World, server: str) -> World:
    """The tenant that is the provider, with somebody who has an account there."""
    world = rival.at(server)
    world.user("ada", name="Ada Lovelace")
    return world


@pytest.fixture
def here(acme: World, elsewhere: World, server: str, settings) -> World:
    world = acme.at(server)
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
        )
    with elsewhere.active():
        redirect_uris = [f"{world.address}/social/callback/{made.pk}"]
        Application.objects.filter(pk=client.application.pk).update(redirect_uris=redirect_uris)
    return world


def start(page: Page, client: RelyingParty) -> None:
    page.route("https://rp.example/**", lambda route: route.fulfill(body="<h1>You are back</h1>"))
    page.goto(f"{client.world.address}/oidc/authorize?{urlencode(client.request())}")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Payroll")


def sign_in_there(page: Page) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Acme here")
    page.get_by_label("Username, email or phone").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()


def subject(client: RelyingParty, address: str) -> str:
    token = client.redeem(query_of(address)["code"]).json()["id_token"]
    return str(jwt.decode(token, options={"verify_signature": False})["sub"])


def test_one_button_there_and_back_to_the_application(here, screens, scripts):
    client = here.application(name="Payroll")
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("link", name="Continue with Elsewhere").click()
    sign_in_there(page)
    page.get_by_role("button", name="Allow").click()
    page.wait_for_url("https://rp.example/callback?**")

    with here.active():
        assert subject(client, page.url) == str(User.objects.get().pk)
        assert SocialIdentity.objects.get().name == "Ada Lovelace"


def test_the_keyboard_reaches_the_button_after_the_form(here, screens):
    page = screens.open()
    page.goto(f"{here.address}/sign-in")
    link = page.get_by_role("link", name="Continue with Elsewhere")
    page.get_by_role("button", name="Sign in").focus()

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
    expect(page.get_by_role("heading", level=1)).to_have_text("That was not finished")
    page.get_by_role("link", name="Go back").click()

    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Payroll")
    assert page.url == waiting
