"""What operators do most, with the keyboard alone and in few pages."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from identity.limits.models import Counter
from interaction.connectors.models import Connector
from interaction.experience.models import SignInExperience
from oidc.applications.models import Application
from tests.support.cast import PASSWORD, World
from tests.support.locks import lock_all
from tests.support.operators import administrator
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page works the same on every engine"
)

MOST_PAGES = 12
MOST_TABS = 80
# The name of the focused element: of its label, its text or its value.
FOCUSED = """() => {
    const on = document.activeElement;
    if (!on || on === document.body) return "";
    const spoken = (node) => {
        const copy = node.cloneNode(true);
        copy.querySelectorAll("[aria-hidden]").forEach((hidden) => hidden.remove());
        return copy.textContent;
    };
    const label = on.labels && on.labels.length ? spoken(on.labels[0]) : "";
    const name = on.getAttribute("aria-label") || label || (on.type === "submit" && on.value);
    return (name || on.textContent).trim().replace(/\\s+/g, " ");
}"""


@dataclass
class Keyboard:
    """A window that is used with keys only. ``pages`` counts those that were loaded."""

    page: Page
    pages: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("load", lambda page: self.pages.append(urlsplit(page.url).path))

    def reach(self, name: str) -> None:
        """Press Tab until the element whose name begins with these words has the focus."""
        for _ in range(MOST_TABS):
            if f"{self.page.evaluate(FOCUSED)} ".startswith(f"{name} "):
                return
            self.page.keyboard.press("Tab")
        pytest.fail(f"{name!r} is not reached with {MOST_TABS} tabs on {self.page.url}")

    def type(self, name: str, text: str) -> None:
        self.reach(name)
        self.page.keyboard.type(text)

    def replace(self, name: str, text: str) -> None:
        self.reach(name)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.type(text)

    def choose(self, name: str) -> None:
        """Select one of several cards."""
        self.reach(name)
        self.page.keyboard.press("Space")

    def pick(self, name: str) -> None:
        """Go to the first card of a group with Tab, and to this one with the arrow keys."""
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            if self.page.evaluate("document.activeElement.type") == "radio":
                break
        for _ in range(MOST_TABS):
            if f"{self.page.evaluate(FOCUSED)} ".startswith(f"{name} "):
                return
            self.page.keyboard.press("ArrowDown")
        pytest.fail(f"{name!r} is not reached with {MOST_TABS} arrow keys on {self.page.url}")

    def press(self, name: str) -> None:
        """Follow a link, or press a button, and wait for the next page."""
        self.reach(name)
        self.enter()

    def enter(self) -> None:
        with self.page.expect_event("load"):
            self.page.keyboard.press("Enter")

    def find(self, text: str) -> None:
        """Search everything for a text, and show all that is found."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.type(text)
        self.enter()

    def see(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()


def sign_in(screens: Screens, address: str, tenant: World) -> Keyboard:
    operator = administrator(tenants=[tenant.tenant.slug])
    keyboard = Keyboard(screens.open())
    keyboard.page.goto(f"{address}/admin/")
    keyboard.type("Username", operator.username)
    keyboard.type("Password", PASSWORD)
    keyboard.enter()
    return keyboard


@pytest.fixture
def keyboard(screens: Screens, acme: World, address: str) -> Iterator[Keyboard]:
    """An operator of one tenant who has signed in."""
    keyboard = sign_in(screens, address, acme)
    yield keyboard
    assert len(keyboard.pages) <= MOST_PAGES, keyboard.pages


def test_an_application_is_registered(keyboard: Keyboard, acme: World):
    keyboard.press("Register an application")
    keyboard.type("Name", "Shop")
    keyboard.choose("Web app")
    keyboard.type("Redirect URIs", "https://shop.example/callback")
    keyboard.press("Create application")

    keyboard.see("Shop")
    with acme.active():
        assert Application.objects.get().redirect_uris == ["https://shop.example/callback"]


def test_a_locked_user_is_found_understood_and_unlocked(keyboard: Keyboard, acme: World):
    acme.browser().sign_in(acme.user("lovelace", name="Ada Lovelace"), "wrong")
    lock_all(acme)

    keyboard.find("lovelace")
    keyboard.press("Ada Lovelace")
    keyboard.see("Locked for")
    keyboard.see("After too many wrong passwords.")
    keyboard.press("Unlock user")
    keyboard.press("Unlock Ada Lovelace")

    keyboard.see("Can sign in")
    with acme.active():
        assert not Counter.objects.filter(kind="pair", locked_until__isnull=False).exists()


def test_a_card_is_edited_in_place(keyboard: Keyboard, acme: World):
    keyboard.find("sign-in experience")
    keyboard.press("Sign-in experience")
    keyboard.press("Edit Passwords")
    keyboard.replace("Minimum length", "3")
    keyboard.press("Save changes")
    assert keyboard.page.evaluate(FOCUSED) == "Minimum length"
    keyboard.see("greater than or equal to 6")
    keyboard.replace("Minimum length", "14")
    keyboard.press("Save changes")

    keyboard.see("The sign-in experience is changed.")
    with acme.active():
        assert SignInExperience.objects.get().password_policy["min_length"] == 14
    keyboard.reach("Edit Passwords")


def test_a_connector_is_created_and_enabled(
    screens: Screens, acme: World, rival: World, loopback_server: str
):
    here, elsewhere = acme.at(loopback_server), rival.at(loopback_server)
    client = elsewhere.application(name="Acme here", redirect_uris=["https://acme.example/callback"])
    keyboard = sign_in(screens, loopback_server, here)

    keyboard.find("create connector")
    keyboard.press("Create connector")
    keyboard.pick("OpenID Connect")
    keyboard.press("Create connector")
    keyboard.see("/social/callback/")  # to register at the provider
    keyboard.type("Issuer", elsewhere.issuer)
    keyboard.type("Client ID", client.client_id)
    keyboard.type("Client secret", client.secret)
    keyboard.type("Display name", "Elsewhere")
    keyboard.press("Create OpenID Connect connector")
    keyboard.press("Enable connector")
    keyboard.press("Enable")
    keyboard.see("The connector is enabled.")

    assert len(keyboard.pages) <= MOST_PAGES
    with acme.active():
        assert Connector.objects.get().enabled
    keyboard.page.goto(f"{here.address}/sign-in")
    keyboard.see("Elsewhere")
