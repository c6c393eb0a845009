"""An operator's day (docs/operators-day.md) in a real browser.

With ``GATEHOUSE_PICTURES=1`` it writes the pictures of that page to ``docs/images/admin``.
"""

import os
import re
import secrets
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from identity.core import tenancy
from identity.sessions import services as sessions
from identity.tenants import services as tenants
from identity.tenants.models import Tenant
from identity.users.models import User
from interaction.connectors import services as connectors
from management.administrators import services as administrators
from management.seeding.demo_data import seeding
from tests.support import authenticator, cast
from tests.support.cast import PASSWORD, World
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="pages are the same on every engine"
)

PICTURES = Path(__file__).resolve().parents[2] / "docs" / "images" / "admin"
SMTP = {
    "host": "mail.acme.invalid",
    "username": "gatehouse",
    "password": "x",
    "from_email": "id@acme.example",
}


@dataclass
class Day:
    """The browser of an operator, which takes the pictures."""

    page: Page
    root: str

    def open(self, path: str) -> None:
        self.page.goto(f"{self.root}/admin/{path}")

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()

    def follow(self, name: str) -> None:
        self.page.locator("#content").get_by_role("link", name=name, exact=True).first.click()

    def see(self, text: str) -> None:
        expect(self.page.get_by_text(text).first).to_be_visible()

    def picture(self, name: str, *, of: str = "body") -> None:
        self.page.wait_for_load_state()
        if os.environ.get("GATEHOUSE_PICTURES") == "1":
            PICTURES.mkdir(parents=True, exist_ok=True)
            whole = self.page if of == "body" else self.page.locator(of)
            whole.screenshot(path=PICTURES / f"{name}.png")


@pytest.fixture
def books(address: str) -> World:
    """A tenant with users, organizations and the events of a month."""
    slug = f"books-{secrets.token_hex(2)}"
    seeding.prepare(seeding.Amounts(1, 60, 6, 700), slug=slug, choices=seeding.Choices(confirmed=True))
    with tenancy.using(tenancy.EVERYWHERE):
        tenant = Tenant.objects.get(slug=slug)
        tenants.change(tenant, {"name": "Acme Books"}, is_proven=True)
    world = World(tenant, f"{address}/t/{slug}")
    with world.active():
        for user in User.objects.order_by("username")[:3]:
            sessions.start(user, amr=["pwd"])
        google = {"client_id": "acme.apps.googleusercontent.com", "client_secret": "x"}
        connectors.create(connector_id="google", type="Social", config=google, enabled=True, is_proven=True)
        connectors.create(connector_id="smtp", type="Email", config=SMTP, is_proven=True)
    return world


def test_an_operators_day(screens: Screens, books: World, address: str):
    other = cast.new_world("Cafes")
    with tenancy.using(tenancy.DEFAULT):
        olga = administrators.create(
            username=f"olga-{secrets.token_hex(2)}",
            password=PASSWORD,
            tenants=[books.tenant.slug, other.tenant.slug],
        )
    with books.active():
        ben, *_ = User.objects.order_by("username")
    day = Day(screens.open(viewport={"width": 1100, "height": 620}, color_scheme="null"), address)

    _sign_in_with_two_steps(day, olga.username)
    _choose_a_tenant(day)
    _look_up_a_failed_sign_in(day, books, ben)
    _suspend_a_user_and_end_sessions(day, ben)
    _rotate_a_key(day)
    _edit_and_test_a_connector(day)
    _preview_and_save_the_sign_in_page(day)
    _export_the_log(day)


def _sign_in_with_two_steps(day: Day, username: str) -> None:
    page = day.page
    _type_the_password(day, username)
    day.open("two-step/")
    key = page.locator(".pairing dd code").inner_text()
    day.picture("two-step-set-up", of="#content")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Code").fill(authenticator.code(key))
    day.press("Set up two-step sign-in")
    expect(page.locator(".codes li")).to_have_count(10)
    page.locator(".account > summary").click()
    day.press("Sign out")
    day.see("You are signed out.")
    _type_the_password(day, username)
    page.get_by_label("Code").fill(authenticator.code(key, 1))
    day.picture("second-step")
    day.press("Sign in")


def _type_the_password(day: Day, username: str) -> None:
    day.open("")
    day.page.get_by_label("Username").fill(username)
    day.page.get_by_label("Password").fill(PASSWORD)
    day.press("Sign in")


def _choose_a_tenant(day: Day) -> None:
    day.see("Choose a tenant")
    day.picture("choose-a-tenant")
    day.page.get_by_role("button", name=re.compile("Acme Books")).click()
    day.see("Failed sign-ins")
    day.picture("dashboard")


def _look_up_a_failed_sign_in(day: Day, books: World, ben: User) -> None:
    answer = books.browser().sign_in(ben, "not his password")
    day.open("why/")
    day.page.get_by_label("Reference").fill(answer.headers["X-Request-Id"])
    day.press("Look up reference")
    day.see("Sign-in with a password failed")
    day.picture("why")
    day.open("users/user/")
    day.page.get_by_label("Search").fill(ben.username)
    day.press("Search")
    day.page.locator("#result_list tbody th a").click()
    day.see("Live sessions")
    day.picture("a-user")


def _suspend_a_user_and_end_sessions(day: Day, ben: User) -> None:
    day.follow("Suspend user")
    day.see("Ends every session and refresh token at once")
    day.press(f"Suspend {ben.display_name}")
    day.see("The user is suspended")
    day.open("users/user/")
    for box in day.page.locator("#result_list input.action-select").all()[:4]:
        box.check()
    day.page.locator("select[name=action]").select_option(label="End sessions of users")
    day.press("Go")
    day.see("End sessions of 4 users")
    day.picture("many-at-once")
    day.press("End sessions of 4 users")
    day.see("4 of 4 done")


def _rotate_a_key(day: Day) -> None:
    day.open("keys/signingkey/")
    day.follow("Prepare next key")
    day.press("Prepare next key")
    day.see("becomes active at the next rotation")
    day.open("keys/signingkey/")
    day.follow("Rotate signing keys")
    day.press("Rotate signing keys")
    day.see("is now active")
    day.picture("signing-keys")


def _edit_and_test_a_connector(day: Day) -> None:
    day.open("connectors/connector/")
    day.follow("SMTP")
    day.follow("Edit connector")
    day.page.get_by_label("From name").fill("Acme Books")
    day.picture("a-connector")
    day.press("Save changes")
    day.see("The configuration is changed")
    day.follow("Test connector")
    day.page.get_by_label("To").fill("olga@acme.example")
    day.press("Test SMTP")
    day.see("the connector's test failed")
    day.picture("a-connector-s-test")


def _preview_and_save_the_sign_in_page(day: Day) -> None:
    day.open("experience/signinexperience/")
    day.follow("Branding")
    day.page.get_by_label("Colour", exact=True).fill("#0b6b53")
    day.page.get_by_label("Colour on a dark background", exact=True).fill("#5fd0ae")
    day.press("Preview")
    drawn = day.page.frame_locator("iframe:not(.loading)")
    button = drawn.get_by_role("button", name="Sign in", exact=True)
    expect(button).to_have_css("background-color", "rgb(11, 107, 83)")
    day.page.get_by_label("Dark", exact=True).check()
    expect(button).to_have_css("background-color", "rgb(95, 208, 174)")
    day.page.get_by_label("Light", exact=True).check()
    day.page.set_viewport_size({"width": 1100, "height": 820})  # the whole preview, below the bar
    day.picture("sign-in-page-preview", of=".preview")
    day.page.set_viewport_size({"width": 1100, "height": 620})
    day.press("Save changes")
    day.see("The sign-in experience is changed")
    expect(button).to_have_css("background-color", "rgb(11, 107, 83)")


def _export_the_log(day: Day) -> None:
    day.open("audit/entry/?result=failed&when=hour")
    day.picture("audit-log")
    with day.page.expect_download() as taken:
        day.follow("Export as CSV")
    assert "SignIn.Password" in taken.value.path().read_text()
