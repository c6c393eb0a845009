"""The operators' site in a real browser: quiet under our own policy, readable, no wider than the screen."""

import os
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from audit.models import Entry
from tests.support.admin_pages import furnish
from tests.support.cast import World
from tests.support.console_walk import LOOKS, sign_in, walk
from tests.support.operators import address_of, pages
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)


# A walk takes a while: one in an ordinary run, all of them in a thorough one.
THOROUGH = bool(os.environ.get("GATEHOUSE_THOROUGH"))


@pytest.mark.parametrize("look", LOOKS if THOROUGH else ["phone"])
def test_every_page_obeys_the_policy_and_is_no_wider_than_the_screen(
    screens: Screens, acme: World, look: str
):
    furnish(acme)
    page = screens.open(**LOOKS[look])

    wide = [
        name
        for name in walk(page, acme)
        if page.evaluate("document.documentElement.scrollWidth > innerWidth")
    ]

    assert wide == []
    assert screens.complaints == []


def test_no_list_is_scrolled_sideways_on_a_laptop(screens: Screens, acme: World):
    furnish(acme)
    user = acme.user("x" * 30, name="Ada Lovelace", email=f"{'a' * 40}@example.com", phone="+441632960123")
    acme.browser().sign_in(user)
    page = screens.open(viewport={"width": 1280, "height": 800})
    sign_in(page, acme)

    wide = []
    for kind in pages():
        page.goto(f"{acme.address.partition('/t/')[0]}{address_of(kind)}")
        results = page.locator(".results")
        if results.count() and results.evaluate("list => list.scrollWidth > list.clientWidth"):
            wide.append(str(kind))

    assert wide == []


@pytest.mark.skipif(not THOROUGH, reason="a part of the thorough run (GATEHOUSE_THOROUGH=1)")
@pytest.mark.parametrize("look", LOOKS)
def test_axe_finds_nothing(screens: Screens, acme: World, look: str):
    furnish(acme)
    # What axe itself does to follow Django's style sheets, the policy would refuse.
    page = screens.open(**LOOKS[look], bypass_csp=True, reduced_motion="reduce")

    found = [
        f"{name}: {violation['id']} {[node['target'] for node in violation['nodes']][:3]}"
        for name in walk(page, acme)
        for violation in Axe().run(page).response["violations"]
    ]

    assert "\n".join(found) == ""


def test_a_phone_has_a_menu_without_a_script(screens: Screens, acme: World):
    page = screens.open(java_script_enabled=False, viewport={"width": 390, "height": 844})
    sign_in(page, acme)
    users = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Users")
    expect(users).to_be_hidden()

    page.locator("details.menu > summary").click()
    users.click()

    expect(page.get_by_role("heading", name="Nothing here yet")).to_be_visible()
    expect(page.get_by_role("button", name="Collapse")).to_be_hidden()


def test_a_phone_shows_the_whole_menu_of_operations_without_a_script(screens: Screens, acme: World):
    page = screens.open(viewport={"width": 375, "height": 740}, java_script_enabled=False)
    sign_in(page, acme)
    page.goto(f"{page.url.split('/admin/')[0]}/admin/users/user/{acme.user().pk}/change/")

    page.locator(".more > summary").click()

    for link in page.locator(".more .panel-over a").all():
        box = link.bounding_box()
        assert box
        assert 0 <= box["x"] < box["x"] + box["width"] <= 375


def test_a_phone_shows_each_row_as_a_card_with_labels(screens: Screens, acme: World):
    ada = acme.user("ada", email="ada.lovelace@example.com")
    acme.browser().sign_in(ada, "wrong")
    page = screens.open(java_script_enabled=False, viewport={"width": 390, "height": 844})
    sign_in(page, acme)
    root = acme.address.partition("/t/")[0]
    for path, row in (
        ("users/user/", "#result_list tbody tr"),
        ("audit/entry/", "#result_list tbody tr"),
        (f"users/user/{ada.pk}/change/", ".health tbody tr"),
    ):
        page.goto(f"{root}/admin/{path}")
        cells = page.locator(row).first.locator("td[data-label]")

        labels = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell, '::before').content)")
        assert labels, path
        assert all(label.strip('"') for label in labels), (path, labels)
        box = page.locator(row).first.bounding_box()
        assert box is not None
        for cell in cells.all():
            if shown := cell.bounding_box():
                assert shown["x"] + shown["width"] <= box["x"] + box["width"] <= 390, path
        assert page.locator(row).first.get_by_text("Failed", exact=True).count() == (path != "users/user/")


def test_ctrl_k_finds_a_user_and_the_sidebar_can_be_collapsed(screens: Screens, acme: World):
    acme.user("findme", name="Ada Lovelace")
    page = screens.open(viewport={"width": 1280, "height": 800})
    sign_in(page, acme)

    page.keyboard.press("Control+k")
    page.keyboard.type("lovel")
    page.locator(".found").get_by_role("link", name="Ada Lovelace").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Ada Lovelace", exact=True)).to_be_visible()
    sidebar = page.locator("nav.side")
    expect(sidebar).to_have_css("width", "232px")
    page.get_by_role("button", name="Collapse").click()
    expect(sidebar).to_have_css("width", "54px")
    assert screens.complaints == []


def test_a_bar_leads_to_its_entries_and_a_day_to_all_of_them(screens: Screens, acme: World):
    for key in ("SignIn.Password", "SignIn.Password", "Token.Refresh"):
        Entry.objects.create(tenant_id=acme.tenant.pk, key=key, payload={"result": "success"})
    page = screens.open(viewport={"width": 1366, "height": 820})
    sign_in(page, acme)
    bar = page.locator(".plot-sign-ins svg a").last
    expect(bar.locator("title")).to_have_text(re.compile(r"^[-0-9]{10}: Password 2$"))

    bar.locator("rect").click()
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    page.go_back()
    page.get_by_text("All numbers as a table").click()
    page.locator(".numbers tbody a").last.click()

    for key, number in (("SignIn.Password", 2), ("Token.Refresh", 1)):
        expect(page.locator("#result_list").get_by_text(key, exact=True)).to_have_count(number)
    assert screens.complaints == []


def test_a_time_zone_is_chosen_without_a_script(screens: Screens, acme: World):
    acme.user("ada")
    page = screens.open(java_script_enabled=False, viewport={"width": 1366, "height": 820})
    sign_in(page, acme)

    page.locator("details.account > summary").click()
    page.get_by_role("link", name="Language and time zone").click()
    page.get_by_label("Time zone").select_option("Asia/Kolkata")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("Your language and time zone are saved.")).to_be_visible()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Users").click()

    expect(page.locator("#result_list time").first).to_have_text(re.compile(r" IST$"))


def test_the_preview_follows_the_form_on_a_phone(screens: Screens, acme: World):
    page = screens.open(viewport={"width": 390, "height": 844})
    sign_in(page, acme)
    page.goto(f"{acme.address.partition('/t/')[0]}/admin/experience/signinexperience/")
    frame = page.frame_locator(".preview iframe:not(.loading)")
    expect(frame.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page.get_by_role("link", name="Branding", exact=True).click()

    page.get_by_label("Colour", exact=True).fill("#e91e63")

    button = frame.get_by_role("button", name="Sign in", exact=True)
    expect(button).to_have_css("background-color", "rgb(233, 30, 99)")
    # Chromium does not draw a frame that is out of sight: scroll the page, not the frame.
    page.locator(".preview iframe:not(.loading)").evaluate("frame => frame.scrollIntoView()")
    expect(button).to_be_in_viewport()
    assert screens.complaints == []


def test_the_preview_follows_the_form_and_the_picker_its_colour(screens: Screens, acme: World):
    page = screens.open(viewport={"width": 1366, "height": 820})
    sign_in(page, acme)
    page.locator("nav.side").get_by_role("link", name="Sign-in experience").click()
    page.get_by_role("link", name="Branding", exact=True).click()
    shown = page.frame_locator(".preview iframe:not(.loading)")
    expect(shown.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    length = page.evaluate("history.length")
    colour = page.get_by_label("Colour", exact=True)

    colour.fill("#e91e6")
    colour.fill("#e91e63")
    expect(page.get_by_label("Choose: Colour", exact=True)).to_have_value("#e91e63")
    expect(page.get_by_text("Text on it is black, contrast 4.8.")).to_be_visible()
    button = shown.get_by_role("button", name="Sign in", exact=True)
    expect(button).to_have_css("background-color", "rgb(233, 30, 99)")

    page.get_by_label("Choose: Colour", exact=True).fill("#00695c")
    expect(colour).to_have_value("#00695c")
    expect(button).to_have_css("background-color", "rgb(0, 105, 92)")

    page.get_by_role("button", name="Registration page").click()
    button = shown.get_by_role("button", name="Create account", exact=True)
    expect(button).to_have_css("background-color", "rgb(0, 105, 92)")
    expect(page.get_by_role("button", name="Registration page")).to_have_attribute("aria-pressed", "true")
    assert page.evaluate("history.length") == length
    assert screens.complaints == []
