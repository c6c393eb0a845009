"""*Try a sign-in* in a real browser: from the page of an application to a new tab, and its result."""

from playwright.sync_api import expect

from tests.support.cast import PASSWORD, World
from tests.support.operators import sign_in_administrator
from tests.support.screens import Screens


def test_an_administrator_tries_a_sign_in_in_a_new_tab(acme: World, screens: Screens, scripts: bool):
    user = acme.user(name="Ada Lovelace", email="ada@acme.example")
    client = acme.application(name="Shop", is_third_party=True)
    root = acme.address.partition("/t/")[0]
    page = screens.open(java_script_enabled=scripts)
    sign_in_administrator(page, root, acme)

    page.goto(f"{root}/admin/applications/application/{client.application.pk}/change/")
    page.get_by_role("link", name="Try a sign-in").click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Try a sign-in to Shop").click()
    tab = opened.value
    tab.get_by_label("Username", exact=False).first.fill(user.username)
    tab.get_by_label("Password", exact=True).fill(PASSWORD)
    tab.get_by_role("button", name="Sign in", exact=True).click()
    tab.get_by_role("button", name="Allow").click()

    expect(tab.get_by_text("Signing in to Shop works.")).to_be_visible()
    expect(tab.get_by_label("Claims: ID token")).to_contain_text('"name": "Ada Lovelace"')
    expect(tab.get_by_text("The consent is withdrawn.")).to_be_visible()
    tab.reload()
    expect(tab.get_by_text("Signing in to Shop works.")).to_be_visible()
    expect(page.get_by_role("button", name="Try a sign-in to Shop")).to_be_visible()
