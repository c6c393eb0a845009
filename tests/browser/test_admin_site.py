"""The operators' site in a real browser: quiet under our own policy, readable, no wider than the screen."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.support.admin_pages import furnish
from tests.support.cast import PASSWORD, World
from tests.support.operators import address_of, administrator, pages
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)

LOOKS: dict[str, dict[str, Any]] = {
    "light": {"color_scheme": "light"},
    "dark": {"color_scheme": "dark"},
    "phone": {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
}


def walk(page: Page, acme: World) -> Iterator[str]:
    """Go through the site as people do, and stop at each page that has loaded to say which it is."""
    for name in _steps(page, acme):
        page.wait_for_load_state()
        yield name


def _steps(page: Page, acme: World) -> Iterator[str]:
    root = acme.address.partition("/t/")[0]
    page.goto(f"{root}/admin/")
    yield "sign in"
    page.get_by_label("Username").fill(administrator().username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Name or slug").fill(acme.tenant.slug)
    page.get_by_role("button", name="Search").click()
    yield "choose"
    page.locator("ul.tenants button").first.click()
    yield "dashboard"
    page.goto(f"{root}/admin/why/?reference=x")
    yield "why"
    page.goto(f"{root}/admin/two-step/")
    yield "two-step"
    for kind in pages():
        page.goto(f"{root}{address_of(kind)}")
        yield f"{kind}"
        row = page.locator("#result_list tbody a").first
        if row.count():
            row.click()
            yield f"{kind}, a row"
        operation = page.locator(".object-tools a[href*='/do/']").first
        if operation.count():
            operation.click()
            yield f"{kind}, an operation"


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
