"""The ways to sign in and to set up a second factor: one is shown at a time, and nothing moves."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.support import codes, passkeys, second
from tests.support.cast import PASSWORD, World
from tests.support.screens import Screens


@pytest.fixture(scope="module")
def localhost(address: str) -> Iterator[str]:
    """A server at localhost: browsers have no passkeys at an IP address."""
    port = second.free_port()
    origin = f"http://localhost:{port}"
    with second.running(PORT=str(port), BASE_URL=origin):
        yield origin


def places(page: Page) -> list[dict[str, float] | None]:
    shown = page.locator("main :is(input, button, a, h1, p):visible")
    return [one.bounding_box() for one in shown.all() if "passkey" not in (one.text_content() or "")]


@pytest.mark.parametrize("has_codes", [True, False])
def test_nothing_moves_when_the_passkey_button_appears(
    acme: World, localhost: str, screens: Screens, has_codes: bool
):
    if has_codes:
        codes.reachable(acme)
    tenant = passkeys.switch_on(acme, "WebAuthn").at(localhost)
    page = screens.open()
    held: list[Route] = []
    page.route("**/passkeys*.js", lambda route: held.append(route))  # noqa: PLW0108 - Playwright counts its parameters
    page.goto(f"{tenant.address}/sign-in", wait_until="commit")
    expect(page.get_by_role("button", name="Show password")).to_be_visible()
    button = page.get_by_role("button", name="Sign in with a passkey")
    expect(button).to_be_hidden()
    before = places(page)

    for route in held:
        route.continue_()
    expect(button).to_be_visible()

    after = places(page)
    assert [box for box in after if box in before] == before


def test_without_scripts_no_gap_is_left_for_passkeys(acme: World, localhost: str, screens: Screens):
    page = screens.open(java_script_enabled=False)
    page.goto(f"{passkeys.switch_on(acme).at(localhost).address}/sign-in")

    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    parts = page.locator("main > *")
    shown = parts.evaluate_all("parts => parts.filter(part => getComputedStyle(part).display != 'none')")
    empty = parts.evaluate_all(
        "parts => parts.filter(part => part.offsetParent && !part.offsetHeight).length"
    )
    assert shown
    assert empty == 0


def test_all_other_ways_to_sign_in_are_in_one_group_and_look_alike(
    acme: World, localhost: str, screens: Screens
):
    codes.reachable(acme)
    tenant = passkeys.switch_on(acme, "WebAuthn").at(localhost)
    page = screens.open()
    page.goto(f"{tenant.address}/sign-in")
    group = page.get_by_role("navigation", name="Other ways to sign in")

    expect(group.get_by_role("button")).to_have_text(["Sign in with a code", "Sign in with a passkey"])
    styles = group.get_by_role("button").evaluate_all(
        "all => all.map(one => { const its = getComputedStyle(one);"
        " return [its.color, its.backgroundColor, its.borderColor, its.fontSize, its.height].join() })"
    )
    assert len(set(styles)) == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_only_the_chosen_way_to_set_up_is_shown(acme: World, localhost: str, screens: Screens, scripts: bool):
    tenant = passkeys.switch_on(acme, "WebAuthn", "Totp", policy="Mandatory").at(localhost)
    user = tenant.user()
    page = screens.open(java_script_enabled=scripts)
    page.goto(f"{tenant.address}/sign-in")
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    primary = page.locator(".button-primary:visible")
    passkey = page.get_by_role("button", name="Create passkey")
    if scripts:
        expect(passkey).to_be_visible()

    page.get_by_text("Use an authenticator app").click()

    expect(passkey).to_be_hidden()
    expect(primary).to_have_text("Set up")
    if scripts:
        expect(page.get_by_label("Code")).to_be_focused()
    page.get_by_label("Code").fill("000000")
    primary.click()
    expect(page.get_by_text("This code is wrong")).to_be_visible()
    expect(passkey).to_be_hidden()
    expect(primary).to_have_text("Set up")

    page.get_by_text("Use another way", exact=True).click()
    expect(page.get_by_label("Code")).to_be_hidden()
    if scripts:
        expect(passkey).to_be_visible()


def test_an_error_goes_once_its_field_changes(acme: World, screens: Screens):
    codes.experience(acme, password_policy={"require_numbers": True})
    page = screens.open()
    page.goto(f"{acme.address}/register")
    page.get_by_label("Username").fill("bob")
    password = page.get_by_label("Password", exact=True)
    password.fill("short")
    page.get_by_role("button", name="Create account").click()
    message = page.locator(".field-error").get_by_text("Add a number.")
    expect(message).to_be_visible()

    password.fill("long enough 1")

    expect(message).to_be_hidden()
    expect(password).not_to_have_attribute("aria-invalid", re.compile("."))
    expect(page.locator(f"[id='{password.get_attribute('id')}_hint']")).to_be_visible()
    assert "_error" not in (password.get_attribute("aria-describedby") or "")
