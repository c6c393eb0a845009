"""The operators' site in a real browser: nothing it does is refused by our own policy."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.management.test_admin_site import furnish
from tests.support.cast import PASSWORD, World
from tests.support.operators import address_of, administrator, pages
from tests.support.screens import Screens

LOOKS = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


def look(page: Page, name: str, found: list[str]) -> None:
    for violation in Axe().run(page).response["violations"]:
        found.append(f"{name}: {violation['id']} {[node['target'] for node in violation['nodes']][:4]}")
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        found.append(f"{name}: has to be scrolled sideways")


@pytest.mark.parametrize("style", LOOKS)
def test_every_page_is_quiet_readable_and_no_wider_than_the_screen(screens: Screens, acme: World, style: str):
    furnish(acme)
    page = screens.open(**LOOKS[style])
    found: list[str] = []
    page.goto(f"{acme.address.partition('/t/')[0]}/admin/")
    look(page, "sign in", found)
    page.get_by_label("Username").fill(administrator().username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Name or slug").fill(acme.tenant.slug)
    page.get_by_role("button", name="Search").click()
    look(page, "choose", found)
    page.locator("ul.tenants button").first.click()
    look(page, "dashboard", found)
    for kind in pages():
        page.goto(f"{acme.address.partition('/t/')[0]}{address_of(kind)}")
        look(page, str(kind), found)
        row = page.locator("#result_list tbody a").first
        if row.count():
            row.click()
            look(page, f"{kind}, a row", found)
        operation = page.locator(".object-tools a[href*='/do/']").first
        if operation.count():
            operation.click()
            look(page, f"{kind}, an operation", found)
    assert found == []
