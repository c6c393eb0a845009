"""The page that posts an authorization response, in a real browser, with scripts and without."""

import re
from urllib.parse import urlencode

import jwt
import pytest
from playwright.sync_api import Page, expect

from tests.support.callback import Site
from tests.support.cast import PASSWORD, RelyingParty


def start(page: Page, client: RelyingParty, **parameters: str) -> None:
    request = client.request(response_mode="form_post", **parameters)
    page.goto(f"{client.world.address}/oidc/authorize?{urlencode(request)}", wait_until="commit")


def sign_in(page: Page, username: str) -> None:
    page.get_by_label("Username, email or phone").fill(username)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def press_if_needed(page: Page, site: Site, *, scripts: bool) -> None:
    """Without scripts, press the button of the page."""
    if not scripts:
        expect(page.get_by_role("heading", level=1)).to_have_text(
            f"Continue to {site.callback.split('/')[2]}"
        )
        page.get_by_role("button", name="Continue").click()
    page.wait_for_url(re.compile(f"^{re.escape(site.origin)}"))


@pytest.fixture
def far(site: Site) -> Site:
    """The application's site, under another name than ours: another site for the browser."""
    site.origin = site.origin.replace("127.0.0.1", "localhost")
    return site


class TestFormPost:
    def test_decision_P16_takes_the_code_to_the_application(self, acme, screens, far, scripts):
        client, user = acme.application(redirect_uris=[far.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        sign_in(page, user.username)
        press_if_needed(page, far, scripts=scripts)

        sent = far.posted[-1]
        assert sent.path == "/callback"
        assert sent.fields.keys() == {"code", "state", "iss"}
        tokens = client.redeem(sent.fields["code"]).json()
        assert jwt.decode(tokens["id_token"], options={"verify_signature": False})["sub"] == str(user.pk)
        assert len(far.posted) == 1
        assert not any("code" in path for path in far.asked)

    def test_decision_P16_says_where_the_form_comes_from(self, acme, screens, far, scripts):
        """Some applications accept forms of their provider's origin only."""
        client = acme.application(redirect_uris=[far.callback])
        page = screens.open(java_script_enabled=scripts)

        start(page, client, prompt="none")
        press_if_needed(page, far, scripts=scripts)

        assert far.posted[-1].fields["error"] == "login_required"
        assert far.posted[-1].origin == "/".join(acme.address.split("/")[:3])

    def test_decision_P16_after_consent_and_with_prompt_none(self, acme, screens, far, scripts):
        client = acme.application(redirect_uris=[far.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user().username)
        page.get_by_role("button", name="Allow").click()
        press_if_needed(page, far, scripts=scripts)

        start(page, client, prompt="none", state="again")
        press_if_needed(page, far, scripts=scripts)
        page.wait_for_url(far.callback)

        assert [sent.fields["state"] for sent in far.posted] == ["af0ifjsldkj", "again"]
        assert all("code" in sent.fields for sent in far.posted)

    def test_decision_P16_a_refusal_is_posted_too(self, acme, screens, far, scripts):
        client = acme.application(redirect_uris=[far.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user().username)

        page.get_by_role("button", name="Deny").click()
        press_if_needed(page, far, scripts=scripts)

        assert far.posted[-1].fields["error"] == "access_denied"

    def test_decision_P16_the_application_may_send_the_browser_on(self, acme, screens, far, scripts):
        far.onward = f"{far.origin}/home"
        client = acme.application(redirect_uris=[far.callback])
        page = screens.open(java_script_enabled=scripts)

        start(page, client, prompt="none")
        press_if_needed(page, far, scripts=scripts)
        page.wait_for_url(far.onward)

        assert far.posted
