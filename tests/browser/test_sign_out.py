"""Signing out in a real browser, with scripts and without."""

from urllib.parse import urlencode

from playwright.sync_api import expect

from tests.support.journeys import shows, sign_in, start


class TestSignOut:
    def test_asks_first_and_leads_to_where_the_application_wants(self, acme, screens, site, scripts):
        client = acme.application(name="Payroll", redirect_uris=[site.callback])
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, acme.user())
        page.wait_for_url(f"{site.callback}?**")
        query = {
            "client_id": client.client_id,
            "post_logout_redirect_uri": f"{site.origin}/bye",
            "state": "s",
        }

        page.goto(f"{acme.address}/oidc/end-session?{urlencode(query)}")
        shows(page, "Sign out of Acme?")
        page.get_by_role("button", name="Sign out").click()
        page.wait_for_url(f"{site.origin}/bye?state=s")
        start(page, client)

        shows(page, "Sign in to Payroll")

    def test_staying_keeps_the_session(self, acme, screens, scripts):
        user = acme.user()
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        shows(page, "Your account")
        page.goto(f"{acme.address}/oidc/end-session")

        page.get_by_role("link", name="Stay signed in").click()

        shows(page, "Your account")
        expect(page.get_by_text(user.username).first).to_be_visible()

    def test_case_E13_the_back_button_shows_nothing_afterwards(self, acme, screens, scripts):
        user = acme.user(name="Alice Example")
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        expect(page.get_by_text("Alice Example").first).to_be_visible()

        page.get_by_role("button", name="Sign out").click()
        shows(page, "You are signed out")
        page.go_back()

        shows(page, "Sign in to Acme")
        expect(page.get_by_text("Alice Example")).to_have_count(0)
        page.goto(f"{acme.address}/account")
        shows(page, "Sign in to Acme")
