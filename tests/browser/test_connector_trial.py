"""*Try it* in a real browser: from the page of a connector to a provider in a new tab, and back."""

from typing import Any
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.support import openid
from tests.support.cast import World
from tests.support.operators import sign_in_administrator
from tests.support.providers import Answer, Asked
from tests.support.screens import Screens
from tests.support.social import connect


@pytest.fixture
def provider(settings) -> Any:
    settings.DEVELOPMENT = True
    with openid.provider() as running:
        running.publish()

        def sign_on(asked: Asked) -> Answer:
            back = running.approve(f"{running.issuer}{asked.target}", sub="42", name="Ada Lovelace")
            return 302, {"Location": f"{asked.query['redirect_uri']}?{urlencode(back)}"}, b""

        running.web.answers["/authorize"] = sign_on
        yield running


def test_an_administrator_tries_a_connector_in_a_new_tab(
    acme: World, screens: Screens, scripts: bool, provider: Any, loopback_server: str
):
    connector = connect(acme, provider.config | {"display_name": "Elsewhere"}, enabled=False)
    root = loopback_server
    page = screens.open(java_script_enabled=scripts)
    sign_in_administrator(page, root, acme)

    page.goto(f"{root}/admin/connectors/connector/{connector.pk}/change/")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Try it").click()
    with page.context.expect_page() as opened:
        page.get_by_role("button", name="Try Elsewhere").click()

    tab = opened.value
    expect(tab.get_by_text("Signing in at Elsewhere works.")).to_be_visible()
    expect(tab.locator("pre").first).to_contain_text('"sub": "42"')
    tab.reload()
    expect(tab.get_by_text("Signing in at Elsewhere works.")).to_be_visible()
    expect(page.get_by_role("button", name="Try Elsewhere")).to_be_visible()
