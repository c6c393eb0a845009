"""The box and the page of remembered browsers, in Chromium."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from interaction.experience import services as experiences
from tests.support.cast import PASSWORD, World
from tests.support.factors import enrol, switch_on
from tests.support.screens import Screens

LOOKS = [
    {"color_scheme": "light"},
    {"color_scheme": "dark"},
    {"viewport": {"width": 390, "height": 844}},
]


def violations(page: Page) -> list[str]:
    return [found["id"] for found in Axe().run(page).response["violations"]]


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "narrow"])
def test_decision_M35_the_box_is_ticked_and_the_browser_is_forgotten(acme: World, screens: Screens, look):
    user = acme.user()
    app = enrol(switch_on(acme), user)
    with acme.active():
        experiences.change({"trusted_device_policy": {"enabled": True}}, is_proven=True)
    page = screens.open(**look)
    page.goto(f"{acme.address}/sign-in")
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()

    box = page.get_by_label("Don't ask here again for 30 days")
    expect(box).not_to_be_checked()
    assert violations(page) == []
    box.check()
    page.get_by_label("Code").fill(app.code())
    page.get_by_role("button", name="Continue").click()
    page.goto(f"{acme.address}/account/security")
    page.get_by_role("link", name="Remembered browsers").click()
    expect(page.get_by_role("button", name="Forget all browsers")).to_be_visible()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="Forget all browsers").click()

    expect(page.get_by_text("Every browser asks you for the second step.")).to_be_visible()
    assert screens.complaints == []
