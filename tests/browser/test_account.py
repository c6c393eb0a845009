"""The account's pages in a real browser, with scripts and without."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Locator, Page, expect

from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from interaction.experience.models import SignInExperience
from tests.support import codes
from tests.support.cast import PASSWORD, World
from tests.support.contrast import POOR_CONTRASTS
from tests.support.forms import form
from tests.support.screens import Screens

NEW = "a new password, 1 of many"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
PAGES = [
    "profile",
    "username",
    "email",
    "phone",
    "password",
    "linked",
    "browsers",
    "applications",
    "data",
    "delete",
]


@pytest.fixture
def open_world(acme: World) -> World:
    """A tenant whose people may do all that there is."""
    codes.reachable(acme)
    with acme.active():
        experiences.change({"account": {"username_change": True, "deletion": True}}, is_proven=True)
    return acme


def sign_in(page: Page, world: World, user: User, password: str = PASSWORD) -> None:
    page.goto(f"{world.address}/sign-in")
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    shows(page, "Your account")


def shows(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def submit(page: Page) -> Locator:
    return page.locator("main button[type=submit]").first


def with_long_names(world: World, user: User) -> None:
    """Give a person another browser and an application, with long names all over."""
    other = world.browser()
    other.http.headers["User-Agent"] = "x" * 500
    client = world.application(name=LONG, is_third_party=True)
    other.sign_in(user)
    asked = other.get(other.authorize(client).headers["Location"])
    form(asked).submit(other, choice="allow")


def account_pages(world: World, screens: Screens, **options: Any) -> Iterator[tuple[str, Page]]:
    """Walk through every page of the account: as it is, and refused."""
    user = world.user(name=LONG, email=f"{'a' * 60}@{'b' * 60}.example", phone=codes.new_phone())
    with_long_names(world, user)
    page = screens.open(**options)
    sign_in(page, world, user)
    yield "overview", page
    for name in PAGES:
        page.goto(f"{world.address}/account/{name}")
        yield name, page
    page.goto(f"{world.address}/account/delete")
    page.locator("[name=typed]").fill("somebody else")
    page.locator("[name=password]").fill("wrong")
    submit(page).click()
    expect(page.locator("[aria-invalid]").first).to_be_focused()
    yield "refused", page
    page.goto(f"{world.address}/account/email")
    page.locator("[name=identifier]").fill(codes.new_email())
    page.locator("[name=password]").fill(PASSWORD)
    submit(page).click()
    shows(page, "Enter the code")
    yield "code", page
    page.goto(f"{world.address}/account/profile")
    page.get_by_label("Name").fill("Alicia")
    submit(page).click()
    shows(page, "Your account")
    yield "done", page
    with world.active():
        User.objects.filter(pk=user.pk).update(password="")
        Session.objects.update(auth_time=timezone.now() - timedelta(hours=1))
    page.goto(f"{world.address}/account/password")
    yield "sign in again", page


class TestJourneys:
    def test_a_new_password_keeps_this_browser_and_ends_the_other(self, acme, screens, scripts):
        user = acme.user()
        here = screens.open(java_script_enabled=scripts)
        there = screens.open(java_script_enabled=scripts)
        for page in (here, there):
            sign_in(page, acme, user)

        here.get_by_role("link", name="Password").click()
        here.get_by_label("Your password", exact=True).fill("wrong")
        here.get_by_label("New password", exact=True).fill(NEW)
        submit(here).click()
        expect(here).to_have_title(re.compile("^Error: Change your password"))
        expect(here.get_by_label("Your password", exact=True)).to_be_focused()
        expect(here.get_by_text("Wrong password.")).to_have_count(1)
        expect(here.get_by_label("New password", exact=True)).to_have_value("")
        here.get_by_label("Your password", exact=True).fill(PASSWORD)
        here.get_by_label("New password", exact=True).fill(NEW)
        here.keyboard.press("Enter")

        expect(here.get_by_role("status").first).to_contain_text("Password saved")
        there.reload()
        shows(there, "Sign in to Acme")
        sign_in(there, acme, user, NEW)

    def test_a_browser_is_signed_out_from_another(self, acme, screens, scripts):
        user = acme.user()
        here = screens.open(java_script_enabled=scripts)
        agent = (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 "
            "(KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1"
        )
        there = screens.open(java_script_enabled=scripts, user_agent=agent)
        for page in (here, there):
            sign_in(page, acme, user)

        here.get_by_role("link", name="Devices").click()
        expect(here.get_by_text("This device")).to_have_count(1)
        here.get_by_role("button", name="Sign out Safari on iPhone").click()

        expect(here.get_by_role("status")).to_have_text("Signed out.")
        expect(here.get_by_text("You aren't signed in anywhere else.")).to_be_visible()
        there.reload()
        shows(there, "Sign in to Acme")

    def test_another_email_counts_once_its_code_is_entered(self, open_world, screens, scripts):
        user, new = open_world.user(), codes.new_email()
        page = screens.open(java_script_enabled=scripts)
        sign_in(page, open_world, user)

        page.get_by_role("link", name="Email").click()
        page.get_by_label("Email address").fill(new)
        page.get_by_label("Your password", exact=True).fill(PASSWORD)
        submit(page).click()
        shows(page, "Enter the code")
        expect(page.get_by_label("Code")).to_be_focused()
        page.keyboard.type(codes.message_to(new)["code"])
        page.keyboard.press("Enter")

        expect(page.get_by_role("status").first).to_have_text("Email saved.")
        expect(page.get_by_text(new)).to_be_visible()

    def test_the_data_come_as_a_file(self, acme, screens, scripts):
        user = acme.user(name="Älice")
        page = screens.open(java_script_enabled=scripts)
        sign_in(page, acme, user)

        page.get_by_role("link", name="Download your data").click()
        page.get_by_label("Your password", exact=True).fill(PASSWORD)
        with page.expect_download() as download:
            submit(page).click()

        assert download.value.suggested_filename == "account.json"
        data = json.loads(download.value.path().read_text())
        assert data["profile"]["name"] == "Älice"

    def test_an_account_is_deleted_without_a_mouse(self, open_world, screens, scripts):
        user = open_world.user()
        page = screens.open(java_script_enabled=scripts)
        sign_in(page, open_world, user)
        page.goto(f"{open_world.address}/account/delete")
        page.get_by_label("To confirm, type").focus()

        page.keyboard.type(user.username)
        page.keyboard.press("Tab")
        expect(page.get_by_label("Your password", exact=True)).to_be_focused()
        page.keyboard.type(PASSWORD)
        for _ in range(2 if scripts else 1):
            page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Delete account")).to_be_focused()
        page.keyboard.press("Enter")

        shows(page, "Your account is deleted")
        page.goto(f"{open_world.address}/account")
        shows(page, "Sign in to Acme")


class TestLooks:
    @pytest.mark.parametrize("width", [320, 360, 1280])
    def test_every_page_fits_and_can_be_touched(self, open_world, screens, width):
        for name, page in account_pages(open_world, screens, viewport={"width": width, "height": 740}):
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            controls = "button:visible, input:not(.unseen):visible, a.button:visible, .rows > a:visible"
            for control in page.locator(controls).all():
                box = control.bounding_box()
                assert box is not None
                assert box["height"] >= 44, (name, control.inner_text())
                assert box["x"] >= 0
                assert box["x"] + box["width"] <= width

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("colour", ["", "#ffff00"])
    def test_every_text_can_be_read_whatever_the_brand(self, open_world, screens, scheme, colour):
        """WCAG 2.2, 1.4.3: a contrast of 4.5 to 1."""
        with open_world.active():
            shown = SignInExperience.objects.get()
            shown.branding |= {"primary_color": colour}
            shown.save()

        for name, page in account_pages(open_world, screens, color_scheme=scheme):
            assert page.evaluate(POOR_CONTRASTS) == [], name

    def test_every_field_has_a_name_and_every_id_is_there_once(self, open_world, screens):
        for name, page in account_pages(open_world, screens):
            ids = page.evaluate("[...document.querySelectorAll('[id]')].map((e) => e.id)")
            assert len(ids) == len(set(ids)), name
            for attribute in ("aria-describedby", "aria-labelledby", "for"):
                marked = page.locator(f"[{attribute}]").all()
                found = [element.get_attribute(attribute) or "" for element in marked]
                assert {word for words in found for word in words.split()} <= set(ids), name
            for field in page.locator("input:not([type=hidden]):not(.unseen)").all():
                label = page.locator(f"label[for={field.get_attribute('id')}]")
                expect(label).to_have_count(1)
