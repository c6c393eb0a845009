"""Consent in a real browser, with scripts and without."""

from playwright.sync_api import expect

from oidc.grants.models import Consent
from tests.support.cast import query_of
from tests.support.journeys import shows, sign_in, start, subject


class TestConsent:
    def test_allow_leads_back_with_a_code_and_is_remembered(self, acme, screens, site, onward, scripts):
        client = acme.application(name="Photo Prints", redirect_uris=[site.callback], is_third_party=True)
        user = acme.user(name="Alice Example")
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        sign_in(page, user)
        shows(page, "Allow Photo Prints to use your account?")
        expect(page.get_by_text("Alice Example")).to_be_visible()
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(site.onward)
        start(page, client, state="again")

        assert page.url == site.onward
        assert query_of(site.answer())["state"] == "again"
        assert subject(client, site.answer()) == str(user.pk)

    def test_deny_leads_back_with_an_error(self, acme, screens, site, onward, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        page.get_by_role("button", name="Deny").click()
        page.wait_for_url(site.onward)

        assert query_of(site.answer())["error"] == "access_denied"
        with acme.active():
            assert not Consent.objects.exists()

    def test_not_you_leads_to_another_sign_in(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        bob = acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        page.get_by_role("link", name="Not you?").click()
        sign_in(page, bob)
        page.get_by_role("button", name="Allow").click()
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(bob.pk)

    def test_needs_no_mouse(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback], is_third_party=True)
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())

        expect(page.get_by_role("button", name="Allow")).to_be_visible()
        for name in ("Not you?", "Allow", "Deny"):
            page.keyboard.press("Tab")
            expect(page.locator(":focus")).to_have_text(name)
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Space")
        page.wait_for_url(f"{site.callback}?**")

        assert "code" in query_of(page.url)
