"""Passkeys of administrators on the operators' site, in Chromium with a virtual authenticator.

Browsers have no passkeys at an IP address, so the server is at localhost here.
"""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.support import operators, second
from tests.support.cast import PASSWORD
from tests.support.screens import Screens
from tests.support.virtual_authenticator import VirtualAuthenticator


@pytest.fixture(scope="module")
def localhost(address: str) -> Iterator[str]:
    port = second.free_port()
    origin = f"http://localhost:{port}"
    with second.running(PORT=str(port), BASE_URL=origin):
        yield origin


def findings(page):
    found = Axe().run(page)
    return [finding["id"] for finding in found.response["violations"]]


def test_decision_M61_an_administrator_creates_a_passkey_and_signs_in_with_it(
    localhost: str, screens: Screens
):
    page, who = screens.open(), operators.administrator()
    authenticator = VirtualAuthenticator(page)
    page.goto(f"{localhost}/admin/")
    page.get_by_label("Username").fill(who.username)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_text("Your account", exact=True)).to_be_attached()

    page.goto(f"{localhost}/admin/passkeys/")
    assert findings(page) == []
    page.get_by_role("link", name="Add passkey").click()
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_role("button", name="Add passkey").click()
    page.get_by_label("Name").fill("Phone")
    assert findings(page) == []
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_text("The passkey is added.")).to_be_visible()
    expect(page.get_by_role("cell", name="Phone")).to_be_visible()
    [credential] = authenticator.credentials()
    assert credential["isResidentCredential"]

    page.context.clear_cookies()
    page.goto(f"{localhost}/admin/login/?next=/admin/passkeys/")
    page.wait_for_url("**/admin/passkeys/")  # the autofill: the virtual authenticator chooses at once
    expect(page.get_by_role("cell", name="Phone")).to_be_visible()

    authenticator.answer(at_once=False)
    page.context.clear_cookies()
    page.goto(f"{localhost}/admin/login/")
    button = page.get_by_role("button", name="Sign in with a passkey")
    expect(button).to_be_visible()
    assert findings(page) == []
    page.wait_for_timeout(500)  # the field waits for its user
    authenticator.answer(at_once=True)
    button.click()
    expect(page.get_by_text("Your account", exact=True)).to_be_attached()
    expect(page.get_by_text(who.username).first).to_be_attached()
