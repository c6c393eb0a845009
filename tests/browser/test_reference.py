"""The API reference in a real browser: search, copying, and requests with a token that nothing keeps."""

import os

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support import management
from tests.support.cast import World
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)


@pytest.fixture
def page(screens: Screens, acme: World) -> Page:
    page = screens.open(permissions=["clipboard-read", "clipboard-write"], reduced_motion="reduce")
    page.goto(f"{acme.address}/api/docs")
    return page


def open_operation(page: Page, name: str) -> None:
    page.get_by_label("Search operations").fill(name)
    page.locator(".operation:not([hidden]) > summary").first.click()
    page.get_by_text("Try it", exact=True).locator("visible=true").first.click()


def test_search_shows_the_operations_that_have_all_words(page):
    page.keyboard.press("/")
    page.keyboard.type("POST users primary_email")

    expect(page.get_by_role("status").first).to_have_text("1 operation")
    expect(page.locator(".operation:not([hidden])")).to_have_count(1)
    expect(page.locator(".operation:not([hidden])")).to_contain_text("Create a user")
    expect(page.locator("main > section:not([hidden])")).to_have_count(1)


def test_a_link_to_an_operation_opens_it(page):
    page.get_by_label("Search operations").fill("roles")
    page.evaluate("location.hash = 'users_create'")

    expect(page.locator("#users_create")).to_be_visible()


def test_copy_takes_the_command(page):
    page.get_by_label("Search operations").fill("GET /api/v1/roles")
    page.locator(".operation:not([hidden]) > summary").first.click()

    page.get_by_role("button", name="Copy command").locator("visible=true").first.click()

    expect(page.get_by_text("Copied").first).to_be_visible()
    assert "curl" in page.evaluate("navigator.clipboard.readText()")


def test_a_request_is_sent_in_the_tenant_of_the_page_and_its_token_is_kept_nowhere(page, acme):
    admin = management.superuser(acme)
    admin.created("/roles", name="Seen in the reference", type="User")
    open_operation(page, "GET /api/v1/roles List")
    page.get_by_label("Token", exact=True).fill(f"Bearer {admin.token}")
    page.get_by_label("page_size", exact=True).fill("5")

    page.get_by_role("button", name="Send request").click()

    expect(page.get_by_text("Status 200 OK")).to_be_visible()
    expect(page.locator(".try pre")).to_contain_text("Seen in the reference")
    expect(page.locator(".try pre")).to_contain_text('"page_size": 5')
    kept = page.evaluate(
        "JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])"
    )
    assert admin.token not in kept
    page.reload()
    open_operation(page, "GET /api/v1/roles List")
    expect(page.get_by_label("Token", exact=True)).to_have_value("")


def test_a_refused_request_shows_every_wrong_field(page, acme):
    open_operation(page, "POST /api/v1/roles")
    page.get_by_label("Token", exact=True).fill(management.superuser(acme).token)
    page.get_by_label("Body", exact=True).fill('{"name": "", "type": "<b>"}')

    page.get_by_role("button", name="Send request").click()

    expect(page.get_by_text("Status 400 Bad Request")).to_be_visible()
    expect(page.locator(".try pre")).to_contain_text('"code": "invalid_choice"')
    expect(page.locator(".try pre b")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.evaluate("location.hash = 'roles_create'")
    page.get_by_text("Try it", exact=True).locator("visible=true").first.click()

    # The dark look has other colours, and nothing else.
    options = {"runOnly": ["color-contrast", "link-in-text-block"]} if scheme == "dark" else {}

    found = Axe().run(page, options={"resultTypes": ["violations"], **options}).response
    wrong = [
        f"{violation['id']} {[node['target'] for node in violation['nodes']]}"
        for violation in found["violations"]
    ]

    assert found["passes"]
    assert wrong == []


def test_is_no_wider_than_a_phone(screens, acme):
    page = screens.open(viewport={"width": 360, "height": 740})
    page.goto(f"{acme.address}/api/docs")
    open_operation(page, "POST /api/v1/applications")

    assert not page.evaluate("document.documentElement.scrollWidth > innerWidth")
