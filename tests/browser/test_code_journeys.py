"""Codes, registration and forgotten passwords in a real browser, with scripts and without."""

import pytest
from playwright.sync_api import Page, expect

from tests.support import codes
from tests.support.cast import PASSWORD, World
from tests.support.codes import experience, message_to, new_email
from tests.support.journeys import shows, start, subject

NEW_PASSWORD = "another good one 2"


@pytest.fixture
def acme(acme: World) -> World:
    return codes.reachable(acme)


def type_address(page: Page, address: str) -> None:
    """Type an address, with the keyboard alone: the field has the focus already."""
    expect(page.locator("[name=identifier][autocomplete]")).to_be_focused()
    page.keyboard.type(address)
    page.keyboard.press("Enter")


def type_code(page: Page, address: str) -> None:
    """Type the code that arrived, with the keyboard alone: the field has the focus already."""
    shows(page, "Enter the code")
    expect(page.get_by_label("Code", exact=True)).to_be_focused()
    page.keyboard.type(message_to(address)["code"])
    page.keyboard.press("Enter")


def test_flow_2_signing_in_by_code(acme, screens, site, scripts):
    address = new_email()
    user = acme.user(email=address)
    client = acme.application(name="Payroll", redirect_uris=[site.callback])
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("button", name="Sign in with a code").click()
    shows(page, "Get a code to sign in")
    type_address(page, address)
    type_code(page, address)
    page.wait_for_url(f"{site.callback}?**")

    assert subject(client, page.url) == str(user.pk)


def test_flow_3_making_an_account_with_a_proven_email(acme, screens, site, scripts):
    experience(acme, sign_up={"identifiers": ["username", "email"], "verify": True})
    address = new_email()
    client = acme.application(name="Payroll", redirect_uris=[site.callback])
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("link", name="Create an account").click()
    shows(page, "Create your Acme account")
    type_address(page, address)
    type_code(page, address)
    shows(page, "Create your Acme account")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password", exact=True).fill(PASSWORD + " 1")
    page.get_by_role("button", name="Create account").click()
    page.wait_for_url(f"{site.callback}?**")

    assert subject(client, page.url)


def test_flow_4_a_forgotten_password_and_back_to_the_application(acme, screens, site, scripts):
    address = new_email()
    user = acme.user(email=address)
    client = acme.application(name="Payroll", redirect_uris=[site.callback])
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("button", name="Forgot your password?").click()
    shows(page, "Reset your password")
    type_address(page, address)
    type_code(page, address)
    expect(page.get_by_label("New password", exact=True)).to_be_focused()
    page.keyboard.type(NEW_PASSWORD)
    page.keyboard.press("Enter")
    shows(page, "Your password is changed")
    page.get_by_role("link", name="Sign in", exact=True).click()
    page.get_by_label("Username, email or phone").fill(address)
    page.get_by_label("Password", exact=True).fill(NEW_PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(f"{site.callback}?**")

    assert subject(client, page.url) == str(user.pk)


def test_the_back_button_and_a_second_try_do_no_harm(acme, screens, site, scripts):
    address = new_email()
    user = acme.user(email=address)
    client = acme.application(name="Payroll", redirect_uris=[site.callback])
    page = screens.open(java_script_enabled=scripts)

    start(page, client)
    page.get_by_role("button", name="Sign in with a code").click()
    shows(page, "Get a code to sign in")
    type_address(page, address)
    shows(page, "Enter the code")
    page.go_back()
    page.get_by_label("Email or phone").fill(address)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_contain_text("a moment ago")
    type_code(page, address)
    page.wait_for_url(f"{site.callback}?**")

    assert subject(client, page.url) == str(user.pk)
