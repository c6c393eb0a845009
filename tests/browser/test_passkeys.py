"""Passkeys on the pages of sign-in and account, in Chromium with a virtual authenticator.

Browsers have no passkeys at an IP address, so the server is at localhost here.
"""

from collections.abc import Iterator
from datetime import timedelta
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from django.utils import timezone
from playwright.sync_api import Page, expect

from identity.factors.challenges import Ceremony
from identity.factors.models import Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import factors, passkeys, second
from tests.support.cast import PASSWORD, World
from tests.support.screens import Screens
from tests.support.virtual_authenticator import VirtualAuthenticator

SIGN_IN = "Sign in with a passkey"


@pytest.fixture(scope="module")
def localhost(address: str) -> Iterator[str]:
    port = second.free_port()
    origin = f"http://localhost:{port}"
    with second.running(PORT=str(port), BASE_URL=origin):
        yield origin


@pytest.fixture
def tenant(acme: World, localhost: str) -> World:
    """A tenant with passkeys, as the server at localhost serves it."""
    return passkeys.switch_on(acme, "WebAuthn", "Totp", "BackupCode").at(localhost)


@pytest.fixture
def user(tenant: World) -> User:
    return tenant.user(name="Ada Lovelace")


@pytest.fixture
def page(screens: Screens) -> Page:
    return screens.open()


def sign_in(page: Page, tenant: World, user: User) -> None:
    page.goto(f"{tenant.address}/sign-in")
    page.get_by_label("Username, email or phone").fill(user.username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def create_passkey(page: Page, tenant: World, button: str = "Create passkey", name: str = "Phone") -> None:
    page.goto(f"{tenant.address}/account/security/passkeys")
    page.get_by_label("Name of the new passkey").fill(name)
    page.get_by_role("button", name=button).click()
    added = page.get_by_text("Passkey added.")
    expect(page.get_by_text(name, exact=True).or_(added)).to_be_visible()
    if added.count():  # the page of backup codes comes after the first one
        page.get_by_role("link", name="Not now").click()
        page.goto(f"{tenant.address}/account/security/passkeys")
        expect(page.get_by_text(name, exact=True)).to_be_visible()


def sign_out(page: Page) -> None:
    page.context.clear_cookies()


def level(tenant: World) -> int:
    with tenant.active():
        return Session.objects.order_by("-created_at").values_list("level", flat=True)[0]


def test_decision_M61_a_passkey_is_created_and_signs_in(page, tenant, user):
    VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant)
    sign_out(page)

    page.goto(f"{tenant.address}/sign-in")
    page.wait_for_url("**/account")  # the autofill: the virtual authenticator chooses at once

    expect(page.get_by_text("Ada Lovelace").first).to_be_visible()
    assert level(tenant) == 3


def test_decision_M29_the_button_signs_in(page, tenant, user):
    authenticator = VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant)
    sign_out(page)
    authenticator.answer(at_once=False)
    page.goto(f"{tenant.address}/sign-in")
    expect(page.get_by_role("button", name=SIGN_IN)).to_be_visible()
    page.wait_for_timeout(500)  # the field waits for its user
    authenticator.answer(at_once=True)

    page.get_by_role("button", name=SIGN_IN).click()
    page.wait_for_url("**/account")

    assert level(tenant) == 3


def test_decision_M29_at_another_address_of_the_server_the_page_says_so(page, tenant, user):
    VirtualAuthenticator(page)

    page.goto(f"{tenant.address.replace('localhost', '127.0.0.1')}/sign-in")

    expect(page.get_by_role("alert")).to_have_text("Passkeys do not work at this address.")


def test_decision_M29_the_password_still_works_while_the_field_waits(page, tenant, user):
    VirtualAuthenticator(page)

    sign_in(page, tenant, user)

    page.wait_for_url("**/account")


def test_decision_M5_a_security_key_is_the_second_factor(page, tenant, user):
    VirtualAuthenticator(page, transport="usb", verifies=False, resident=False)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant, "Add security key", "Blue key")
    sign_out(page)

    sign_in(page, tenant, user)
    page.wait_for_url("**/sign-in/second-factor*")
    page.get_by_role("button", name="Use passkey or security key").click()
    page.wait_for_url("**/account")

    assert level(tenant) == 3


def test_decision_M42_a_passkey_is_set_up_in_the_sign_in(page, tenant, user):
    passkeys.switch_on(tenant, "WebAuthn", "BackupCode", policy="Mandatory")
    VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/sign-in/set-up*")

    page.get_by_role("button", name="Create passkey").click()
    page.wait_for_url("**/sign-in/backup-codes*")

    with tenant.active():
        assert Passkey.objects.get().user_id == user.pk


def test_decision_M43_the_first_passkey_confirms_that_a_second_is_added(page, tenant, user):
    authenticator = VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant)
    with tenant.active():
        Session.objects.update(second_factor_at=timezone.now() - timedelta(hours=1))

    page.goto(f"{tenant.address}/account/security/passkeys")
    page.wait_for_url("**/confirm?back=account-passkeys")
    page.get_by_role("button", name="Use passkey or security key").click()
    page.wait_for_url("**/account/security/passkeys")
    page.get_by_role("button", name="Create passkey").click()

    expect(page.get_by_role("alert")).to_have_text("This device already has a passkey for this account.")
    assert len(authenticator.credentials()) == 1


def test_decision_M43_an_empty_password_is_asked_for_and_not_called_wrong(page, tenant, user):
    VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    with tenant.active():
        Session.objects.update(auth_time=timezone.now() - timedelta(hours=1))
    page.goto(f"{tenant.address}/account/security/passkeys")

    page.get_by_role("button", name="Create passkey").click()

    expect(page.get_by_role("alert")).to_have_text("Enter your password.")
    page.get_by_label("Your password").fill("wrong")
    page.get_by_role("button", name="Create passkey").click()
    expect(page.get_by_role("alert")).to_have_text("Wrong password.")


def test_decision_M23_a_removed_passkey_leaves_the_device(page, tenant, user):
    authenticator = VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant)
    assert len(authenticator.credentials()) == 1

    page.get_by_role("button", name="Remove Phone").click()
    done = "Removed. All other devices and applications are signed out."
    expect(page.get_by_text(done)).to_be_visible()
    page.wait_for_timeout(500)

    assert authenticator.credentials() == []


def test_decision_M29_a_refusal_is_said_and_the_password_works(page, tenant, user):
    authenticator = VirtualAuthenticator(page)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")
    create_passkey(page, tenant)
    with tenant.active():
        Passkey.objects.all().delete()
    sign_out(page)
    authenticator.answer(at_once=False)
    page.goto(f"{tenant.address}/sign-in")
    page.wait_for_timeout(500)
    authenticator.answer(at_once=True)

    page.get_by_role("button", name=SIGN_IN).click()

    expect(page.get_by_role("alert")).to_have_text("This passkey was not accepted. Try another one.")
    authenticator.answer(at_once=False)
    sign_in(page, tenant, user)
    page.wait_for_url("**/account")


@pytest.mark.parametrize("language", ["en", "ar"])
def test_axe_finds_nothing_on_the_pages(screens, tenant, user, language):
    page, axe = screens.open(locale=language, reduced_motion="reduce"), Axe()
    found: list[str] = []
    authenticator = VirtualAuthenticator(page)
    authenticator.answer(at_once=False)

    def look(name: str) -> None:
        page.wait_for_function("document.querySelector('[data-passkey] button:not([hidden])')")
        results = axe.run(page)
        found.extend(
            f"{name}: {one['id']} {one['nodes'][0]['html']}" for one in results.response["violations"]
        )

    page.goto(f"{tenant.address}/sign-in")
    look("sign-in")
    page.locator("[name=identifier]").fill(user.username)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("#sign-in button.button-primary").click()
    page.wait_for_url("**/account")
    authenticator.answer(at_once=True)
    page.goto(f"{tenant.address}/account/security/passkeys")
    look("no passkeys")
    page.locator("[name=name]").fill("Phone")
    page.locator("[data-ceremony=set_up]").click()
    page.wait_for_url("**/codes?done=passkey")
    page.goto(f"{tenant.address}/account/security/passkeys")
    expect(page.get_by_text("Phone", exact=True)).to_be_visible()
    look("passkeys")
    page.locator("[data-ceremony=set_up]").click()
    expect(page.get_by_role("alert")).to_be_visible()
    look("a refusal")

    assert found == []


def test_without_scripts_the_pages_work_and_say_what_passkeys_need(screens, tenant, user):
    page = screens.open(java_script_enabled=False)
    passkeys.enrol(tenant, user, passkeys.security_key(), Ceremony.SET_UP_SECURITY_KEY)
    with tenant.active():
        Passkey.objects.update(rp_id=urlsplit(tenant.address).hostname)
    app = factors.enrol(tenant, user)

    sign_in(page, tenant, user)
    expect(page.get_by_text("Passkeys need JavaScript and a browser that supports them.")).to_be_visible()
    page.get_by_role("link", name="Authenticator app").click()
    page.get_by_label("Code", exact=True).fill(app.code())
    page.get_by_role("button", name="Continue").click()

    page.wait_for_url("**/account")
