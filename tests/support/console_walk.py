"""The pages of the operators' site, as an administrator walks through them in a real browser."""

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from tests.support.cast import PASSWORD, World
from tests.support.operators import address_of, administrator, pages

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
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_label("Name or slug").fill(acme.tenant.slug)
    page.get_by_role("button", name="Search").click()
    yield "choose"
    page.locator("ul.tenants button").first.click()
    yield "dashboard"
    page.goto(f"{root}/admin/why/?reference=x")
    yield "why"
    page.goto(f"{root}/admin/two-step/")
    yield "two-step"
    page.goto(f"{root}/admin/preferences/")
    yield "preferences"
    for kind in pages():
        page.goto(f"{root}{address_of(kind)}")
        yield f"{kind}"
        row = page.locator("#result_list tbody a").first
        if row.count():
            row.click()
            yield f"{kind}, a row"
        card = page.locator(".card-head a[href*='?edit=']").first
        if card.count():
            card.click()
            yield f"{kind}, a card"
        operation = page.locator(".object-tools a[href*='/do/']").first
        if operation.count():
            operation.click()
            yield f"{kind}, an operation"


def sign_in(page: Page, acme: World) -> None:
    steps = walk(page, acme)
    while next(steps) != "dashboard":
        pass
