"""How strong a new password is, while it is typed: an addition that a tenant may want."""

import os

import pytest
from playwright.sync_api import Page, expect

from tests.support import codes
from tests.support.cast import PASSWORD, World
from tests.support.codes import experience, message_to, new_email
from tests.support.screens import Screens

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page works the same on every engine"
)


def register(page: Page, acme: World) -> None:
    page.goto(f"{acme.address}/register")


def new_password(page: Page, acme: World) -> None:
    address = new_email()
    codes.reachable(acme).user(email=address)
    page.goto(f"{acme.address}/forgot-password")
    page.locator("[name=identifier]").fill(address)
    page.keyboard.press("Enter")
    page.get_by_label("Code", exact=True).fill(message_to(address)["code"])
    page.keyboard.press("Enter")


def account(page: Page, acme: World) -> None:
    user = acme.user()
    page.goto(f"{acme.address}/sign-in")
    page.locator("[name=identifier]").fill(user.username)
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/account")
    page.goto(f"{acme.address}/account/password")


CHOOSING = pytest.mark.parametrize("choosing", [register, new_password, account])


@CHOOSING
def test_it_comes_with_the_first_character_and_follows_what_is_typed(acme, screens: Screens, choosing):
    experience(acme, password_policy={"strength_meter": True})
    page = screens.open()
    choosing(page, acme)
    field, meter = page.locator("[autocomplete=new-password]"), page.get_by_role("meter")
    said = page.locator(".strength [role=status]")

    expect(field).to_be_visible()
    expect(meter).to_be_hidden()
    expect(said).to_have_text("")
    field.press_sequentially("p")
    expect(meter).to_be_visible()
    expect(meter).to_have_accessible_name("Password strength")
    expect(said).to_contain_text("Weak password.")
    field.fill("four otters juggle lanterns")
    expect(meter).to_have_js_property("value", 4)
    expect(said).to_have_text("Strong password.")
    field.fill("")
    expect(meter).to_be_hidden()
    expect(said).to_have_text("")


@pytest.mark.parametrize(("meter", "scripts"), [(False, True), (True, False)], ids=["off", "without scripts"])
@CHOOSING
def test_the_page_is_complete_without_it(acme, screens: Screens, choosing, meter, scripts):
    experience(acme, password_policy={"strength_meter": meter})
    page = screens.open(java_script_enabled=scripts)
    choosing(page, acme)

    page.locator("[autocomplete=new-password]").press_sequentially("password")

    expect(page.get_by_text("Use at least 8 characters")).to_be_visible()
    assert page.locator("meter").count() == 0
    assert "strength" not in page.locator("main").inner_text().lower()


def test_it_says_what_makes_a_password_weak(acme, screens: Screens):
    experience(acme, password_policy={"strength_meter": True}, sign_up={"identifiers": ["username", "email"]})
    page = screens.open()
    register(page, acme)
    page.get_by_label("Username").fill("lovelace.a")
    page.get_by_label("Email").fill("countess@example.com")
    page.get_by_label("Name (optional)").fill("Augusta King")
    meter, said = page.get_by_role("meter"), page.locator(".strength [role=status]")

    for passwords, advice in {
        ("password", "P@ssw0rd", "drowssap", "sunshine7", "Superman!"): "Common words are",
        ("qwertyuiop", "poiuytrewq", "asdfghjkl1", "abcdefgh", "87654321", "1q2w3e4r"): "Keys or letters",
        ("aaaaaaaaaaaa", "xyqxyqxyqxyq"): "Repeating something",
        ("12.05.1987", "19870512", "5/12/87"): "Years and dates",
        ("lovelace.a1", "Countess99", "augustaking!", "Acme#1"): "Your name, your addresses",
        ("zr", "tabkin"): "Make it longer",
    }.items():
        for password in passwords:
            page.get_by_label("Password", exact=True).fill(password)
            expect(said).to_contain_text(advice)
            assert meter.evaluate("meter => meter.value") == 1, password


def test_it_tells_weak_from_strong(acme, screens: Screens):
    experience(acme, password_policy={"strength_meter": True})
    page = screens.open()
    register(page, acme)
    field, meter = page.get_by_label("Password", exact=True), page.get_by_role("meter")

    def level(password: str) -> int:
        field.fill(password)
        return int(meter.evaluate("meter => meter.value"))

    assert level("zebrafinch9") == 2
    assert level("xK9$qL2!") == 3
    assert level("xK9$qL2!zvR4") == 4
    assert level("correct horse battery staple") == 4
    assert level("密碼要長一點才好記得住") == 4
    assert level("aB3$" * 60) < 3


def test_what_is_typed_stays_on_the_page(acme, screens: Screens):
    experience(acme, password_policy={"strength_meter": True})
    page = screens.open()
    register(page, acme)
    page.wait_for_load_state("networkidle")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))

    page.get_by_label("Password", exact=True).press_sequentially("another good one 2")
    expect(page.locator(".strength [role=status]")).to_have_text("Strong password.")

    assert sent == []
    assert page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert "another good one" not in page.content()
