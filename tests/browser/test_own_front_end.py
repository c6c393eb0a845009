"""The front end of docs/examples/own_front_end, at the origin of Gatehouse, through every journey."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from identity.factors.models import Authenticator, Passkey
from identity.sessions.models import Session
from identity.users.models import User
from tests.support import codes, factors, passkeys, second
from tests.support.cast import PASSWORD, World
from tests.support.factors import App, enrol
from tests.support.screens import Screens
from tests.support.virtual_authenticator import VirtualAuthenticator

FILES = Path(settings.BASE_DIR) / "docs/examples/own_front_end"


@pytest.fixture(scope="module")
def localhost(address: str) -> Iterator[str]:
    port = second.free_port()
    origin = f"http://localhost:{port}"
    with second.running(PORT=str(port), BASE_URL=origin):
        yield origin


@pytest.fixture
def tenant(acme: World, localhost: str) -> World:
    codes.reachable(acme)
    return passkeys.switch_on(acme, "WebAuthn", "Totp", "BackupCode", "EmailVerificationCode").at(localhost)


@pytest.fixture
def user(tenant: World) -> User:
    return tenant.user(email=codes.new_email(), email_verified=True)


@pytest.fixture
def page(screens: Screens, tenant: World) -> Page:
    """A window in which a proxy serves the front end at the pages that it replaces."""
    opened = screens.open()

    def serve(route: Route) -> None:
        route.fulfill(path=FILES / ("app.js" if "app.js" in route.request.url else "index.html"))

    for replaced in ("/sign-in", "/sign-in?*", "/account", "/own/app.js"):
        opened.context.route(f"{tenant.address}{replaced}", serve)
    return opened


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def fill(page: Page, **typed: str) -> None:
    for label, text in typed.items():
        page.get_by_label(label, exact=True).fill(text)


def heading(page: Page, text: str) -> None:
    expect(page.get_by_role("heading", level=1, name=text)).to_be_visible()


def sign_in(page: Page, tenant: World, user: User) -> None:
    page.goto(f"{tenant.address}/sign-in")
    page.get_by_label("Username, email or phone").fill(user.username)
    fill(page, Password=PASSWORD)
    press(page, "Sign in")


def at_account(page: Page) -> None:
    page.wait_for_url("**/account")
    heading(page, "Your account")


def level(tenant: World) -> int:
    with tenant.active():
        return Session.objects.order_by("-created_at").values_list("level", flat=True)[0]


def prove_long_ago(tenant: World) -> None:
    with tenant.active():
        past = timezone.now() - timedelta(minutes=6)
        Session.objects.update(auth_time=past)
        Session.objects.exclude(second_factor_at=None).update(second_factor_at=past)


class TestSigningIn:
    def test_with_a_password_and_after_a_wrong_one(self, page, tenant, user):
        page.goto(f"{tenant.address}/sign-in")
        page.get_by_label("Username, email or phone").fill(user.username)
        fill(page, Password="wrong")
        press(page, "Sign in")
        expect(page.get_by_role("alert")).not_to_be_empty()

        sign_in(page, tenant, user)

        at_account(page)

    def test_with_a_code(self, page, tenant, user):
        page.goto(f"{tenant.address}/sign-in")
        press(page, "Sign in with a code")
        page.get_by_label("Email or phone").fill(user.email)
        press(page, "Send code")
        heading(page, "Enter the code")
        fill(page, Code=str(codes.message_to(user.email)["code"]))
        press(page, "Continue")

        at_account(page)

    def test_registration_by_username_and_by_a_verified_email(self, page, tenant):
        page.goto(f"{tenant.address}/sign-in")
        press(page, "Create account")
        fill(page, username="new-here", Password="a good password 1")
        press(page, "Create account")
        at_account(page)

        page.context.clear_cookies()
        codes.experience(tenant, sign_up={"identifiers": ["email"], "password": True, "verify": True})
        address = codes.new_email()
        page.goto(f"{tenant.address}/sign-in")
        press(page, "Create account")
        page.get_by_label("Email or phone").fill(address)
        press(page, "Send code")
        heading(page, "Enter the code")
        fill(page, Code=str(codes.message_to(address)["code"]))
        press(page, "Continue")
        fill(page, Password="a good password 1")
        press(page, "Create account")

        at_account(page)


class TestTheSecondFactor:
    def enter(self, page: Page, way: str, code: str) -> None:
        section = page.locator("section").filter(has_text=way)
        section.get_by_label("Code").fill(code)
        section.get_by_role("button").click()

    def test_decision_M49_by_app_and_by_backup_code(self, page, tenant, user):
        app = enrol(tenant, user)
        spare = factors.give_backup_codes(tenant, user)
        sign_in(page, tenant, user)
        heading(page, "Confirm that it's you")
        page.reload()  # the sign-in goes on where it was
        heading(page, "Confirm that it's you")
        self.enter(page, "Authenticator app", app.code())
        at_account(page)
        assert level(tenant) == 2

        page.context.clear_cookies()
        sign_in(page, tenant, user)
        self.enter(page, "Backup code", spare[0])

        at_account(page)

    def test_decision_M49_by_a_code_that_is_sent(self, page, tenant, user):
        enrol(tenant, user)
        factors.give_backup_codes(tenant, user)  # otherwise they come next
        sign_in(page, tenant, user)
        page.get_by_role("button", name="Send code to").click()
        heading(page, "Enter the code")
        fill(page, Code=str(codes.message_to(user.email)["code"]))
        press(page, "Use Email")

        at_account(page)

    def test_decision_M49_it_is_set_up_with_backup_codes(self, page, tenant, user):
        passkeys.switch_on(tenant, "WebAuthn", "Totp", "BackupCode", policy="Mandatory")
        sign_in(page, tenant, user)
        heading(page, "Set up a second step")
        press(page, "Set up authenticator app")
        app = App(page.locator("code").inner_text())
        fill(page, Name="Phone", Code=app.code())
        press(page, "Continue")
        press(page, "Show backup codes")
        expect(page.get_by_role("listitem")).to_have_count(10)
        press(page, "Continue")

        at_account(page)
        expect(page.get_by_text("Phone", exact=True)).to_be_visible()

    def test_decision_M49_a_passkey_is_set_up_and_then_signs_in(self, page, tenant, user):
        passkeys.switch_on(tenant, "WebAuthn", policy="Mandatory")
        VirtualAuthenticator(page)
        sign_in(page, tenant, user)
        press(page, "Create passkey")
        at_account(page)

        page.context.clear_cookies()
        page.goto(f"{tenant.address}/sign-in")
        press(page, "Sign in with a passkey")
        at_account(page)
        assert level(tenant) == 3

        page.context.clear_cookies()
        sign_in(page, tenant, user)
        press(page, "Use passkey")
        at_account(page)

    def test_decision_M49_an_offer_is_skipped(self, page, tenant, user):
        passkeys.switch_on(tenant, "Totp", policy="PromptOnlyAtSignIn")
        sign_in(page, tenant, user)
        heading(page, "Set up a second step")
        press(page, "Skip")

        at_account(page)


class TestTheAccount:
    def test_decision_M50_factors_are_added_renamed_and_removed(self, page, tenant, user):
        VirtualAuthenticator(page)
        with tenant.active():
            User.objects.filter(pk=user.pk).update(email_verified=False)
        sign_in(page, tenant, user)
        at_account(page)
        prove_long_ago(tenant)

        press(page, "Add authenticator app")
        heading(page, "Confirm that it's you")
        fill(page, Password=PASSWORD)
        press(page, "Confirm")
        heading(page, "Scan the code")
        app = App(page.locator("code").inner_text())
        fill(page, Name="Phone", Code=app.code())
        press(page, "Continue")
        at_account(page)
        press(page, "Add passkey")
        expect(page.get_by_role("listitem")).to_have_count(2)
        press(page, "New backup codes")
        expect(page.get_by_role("listitem")).to_have_count(10)
        press(page, "Continue")
        expect(page.get_by_text("10 backup codes")).to_be_visible()

        row = page.get_by_role("listitem").filter(has_text="Phone")
        row.get_by_label("Name").fill("Old phone")
        row.get_by_role("button", name="Rename").click()
        expect(page.get_by_text("Old phone", exact=True)).to_be_visible()
        press(page, "Switch two-step sign-in off")
        expect(page.get_by_role("button", name="Switch two-step sign-in on")).to_be_visible()
        with tenant.active():
            assert Authenticator.objects.get().name == "Old phone"
            assert not User.objects.get(pk=user.pk).two_step

        row = page.get_by_role("listitem").filter(has_text="Old phone")
        row.get_by_role("button", name="Remove").click()
        expect(page.get_by_text("Old phone", exact=True)).to_be_hidden()
        with tenant.active():
            assert (Authenticator.objects.count(), Passkey.objects.count()) == (0, 1)

    def test_decision_M43_a_passkey_confirms_and_then_the_password(self, page, tenant, user):
        VirtualAuthenticator(page)
        sign_in(page, tenant, user)
        at_account(page)
        press(page, "Add passkey")
        expect(page.get_by_role("listitem")).to_have_count(1)
        prove_long_ago(tenant)

        press(page, "Remove")
        press(page, "Use passkey")
        fill(page, Password=PASSWORD)
        press(page, "Confirm")

        at_account(page)
        expect(page.get_by_role("listitem")).to_have_count(0)


def test_the_front_end_is_short():
    lines = (FILES / "app.js").read_text().splitlines()

    assert len(lines) < 300
    assert max(map(len, lines)) <= 140
