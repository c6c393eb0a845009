"""axe-core looks at administrators' trials, and at the terms that new users of a provider agree to."""

import os
from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.support import openid
from tests.support.cast import PASSWORD, World
from tests.support.operators import sign_in_administrator
from tests.support.providers import Answer, Asked
from tests.support.screens import Screens
from tests.support.social import connect
from tests.support.terms import ask

pytestmark = pytest.mark.skipif(
    os.environ.get("TEST_ENGINE") == "postgres", reason="a page looks the same on every engine"
)

_WIDE, _PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
_LOOKS: dict[str, tuple[Any, Any, str]] = {
    "light": ("light", _WIDE, ""),
    "dark": ("dark", _WIDE, ""),
    "phone": ("dark", _PHONE, ""),
    "from right to left": ("light", _PHONE, "rtl"),
}


def inspect(page: Page, name: str) -> None:
    """Let axe look at a page in every look. ``direction`` is set where the page has none of its own."""
    own = page.evaluate("document.documentElement.dir")
    found = []
    for look, (scheme, size, direction) in _LOOKS.items():
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size(size)
        page.evaluate("dir => { document.documentElement.dir = dir }", direction or own)
        violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
        found += [
            f"{look}: {one['id']} {[node['target'] for node in one['nodes']][:3]}" for one in violations
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{look}: has to be scrolled sideways")
        code = page.locator("pre").evaluate_all("all => all.map(one => getComputedStyle(one).direction)")
        if "rtl" in code:
            found.append(f"{look}: code is written from right to left")
    page.evaluate("dir => { document.documentElement.dir = dir }", own)
    assert found == [], name


@pytest.fixture
def provider(settings: Any) -> Any:
    settings.DEVELOPMENT = True
    with openid.provider() as running:
        running.publish()

        def sign_on(asked: Asked) -> Answer:
            back = running.approve(
                f"{running.issuer}{asked.target}",
                sub="42",
                name="Ada Lovelace",
                email="ada@example.com",
                email_verified=True,
            )
            return 302, {"Location": f"{asked.query['redirect_uri']}?{urlencode(back)}"}, b""

        running.web.answers["/authorize"] = sign_on
        yield running


@pytest.mark.parametrize("language", ["en", "ar"])
def test_the_terms_after_a_first_sign_in(
    acme: World, screens: Screens, provider: Any, loopback_server: str, language: str
):
    ask(acme)
    connect(acme, provider.config | {"display_name": "Elsewhere"})
    page = screens.open(locale=language, reduced_motion="reduce")

    page.goto(f"{acme.at(loopback_server).address}/sign-in")
    page.get_by_role("link", name="Elsewhere").click()
    expect(page.locator("[name=agreed_to_terms]")).to_be_visible()
    assert "/register/terms/" in page.url
    inspect(page, f"terms-{language}")
    page.locator("[name=agreed_to_terms]").evaluate("box => box.form.noValidate = true")
    with page.expect_navigation():
        page.locator("main form button[type=submit]").first.click()
    inspect(page, f"terms-refused-{language}")


def test_the_trial_of_a_connector(acme: World, screens: Screens, provider: Any, loopback_server: str):
    connector = connect(acme, provider.config | {"display_name": "Elsewhere"}, enabled=False)
    path = f"{loopback_server}/admin/connectors/connector/{connector.pk}/do/try/"
    page = screens.open(bypass_csp=True, reduced_motion="reduce")
    sign_in_administrator(page, loopback_server, acme)
    page.goto(path)
    inspect(page, "connector-trial-form")

    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Try Elsewhere").click()
    expect(opened.value.get_by_text("Signing in at Elsewhere works.")).to_be_visible()
    inspect(opened.value, "connector-trial")
    page.goto(f"{path}?state=try.unknown")
    inspect(page, "connector-trial-refused")


def test_the_trial_of_a_sign_in(acme: World, screens: Screens):
    user, client = acme.user(name="Ada Lovelace"), acme.application(name="Shop")
    root = acme.address.partition("/t/")[0]
    page = screens.open(bypass_csp=True, reduced_motion="reduce")
    sign_in_administrator(page, root, acme)
    path = f"{root}/admin/applications/application/{client.application.pk}/do/try-sign-in/"
    page.goto(path)
    inspect(page, "sign-in-trial-form")

    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Try a sign-in to Shop").click()
    tab = opened.value
    tab.get_by_label("Username", exact=False).first.fill(user.username)
    tab.get_by_label("Password", exact=True).fill(PASSWORD)
    tab.get_by_role("button", name="Sign in", exact=True).click()
    expect(tab.get_by_text("Signing in to Shop works.")).to_be_visible()
    inspect(tab, "sign-in-trial")
    page.goto(f"{path}?state=unknown&error=access_denied")
    expect(page.get_by_text("There is no result to show.")).to_be_visible()
