"""From an application through the sign-in pages and back, in a real browser, with scripts and without."""

import re

import pytest
from playwright.sync_api import expect

from tests.support.callback import Site
from tests.support.cast import PASSWORD, query_of
from tests.support.journeys import shows, sign_in, start, subject


class TestSignIn:
    def test_leads_to_the_application_and_wherever_it_sends_the_browser(
        self, acme, screens, site, onward, scripts
    ):
        client, user = acme.application(name="Payroll", redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        shows(page, "Sign in to Payroll")
        sign_in(page, user)
        page.wait_for_url(site.onward)

        shows(page, "You are back")
        assert subject(client, site.answer()) == str(user.pk)

    def test_leads_to_an_application_on_the_web(self, acme, screens, scripts):
        client, user = acme.application(), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        with page.expect_request("https://rp.example/callback?**") as back:  # out of reach
            sign_in(page, user)

        assert subject(client, back.value.url) == str(user.pk)

    def test_leads_to_a_native_application_at_any_loopback_port(self, acme, screens, site, scripts):
        client, user = acme.application("Native", redirect_uris=["http://127.0.0.1/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client, redirect_uri=site.callback)
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_leads_to_a_native_application_at_an_ipv6_address(self, acme, screens, scripts):
        try:
            listening = Site("::1")
        except OSError:
            pytest.skip("this machine has no IPv6 loopback address")
        client, user = acme.application("Native", redirect_uris=["http://[::1]/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        with listening as site:
            start(page, client, redirect_uri=site.callback)
            sign_in(page, user)
            page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_leads_to_a_native_application_with_a_scheme_of_its_own(self, acme, screens, scripts):
        client, user = acme.application("Native", redirect_uris=["com.example.app:/callback"]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)

        with page.expect_event(
            "requestfailed", lambda failed: failed.url.startswith("com.example.app:")
        ) as failed:
            sign_in(page, user)  # this machine has no such application: the browser tried, and that is all

        assert subject(client, failed.value.url) == str(user.pk)

    def test_answers_in_the_fragment_when_asked_to(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client, response_mode="fragment")
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}#**")

        assert subject(client, page.url) == str(user.pk)

    def test_a_wrong_password_is_explained_where_people_look(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)

        sign_in(page, user, "wrong")

        expect(page).to_have_title(re.compile("^Error: Sign in"))
        expect(page.get_by_role("alert")).to_contain_text("Wrong username or password.")
        expect(page.get_by_role("alert")).to_be_focused()
        expect(page.get_by_label("Username, email or phone")).to_have_value(user.username)
        expect(page.get_by_label("Password", exact=True)).to_have_value("")
        page.get_by_label("Password", exact=True).fill(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(user.pk)

    def test_needs_no_mouse(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)

        start(page, client)
        expect(page.get_by_label("Username, email or phone")).to_be_focused()
        page.keyboard.type(user.username)
        page.keyboard.press("Tab")
        expect(page.get_by_label("Password", exact=True)).to_be_focused()
        page.keyboard.type(PASSWORD)
        if scripts:
            page.keyboard.press("Tab")
            expect(page.get_by_role("button", name="Show password")).to_be_focused()
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_each_of_two_tabs_ends_where_it_began(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        first = screens.open(java_script_enabled=scripts)
        second = first.context.new_page()
        start(first, client, state="first")
        start(second, client, state="second")

        for page, state in ((first, "first"), (second, "second")):
            sign_in(page, user)
            page.wait_for_url(f"{site.callback}?**")
            assert query_of(page.url)["state"] == state

    def test_of_somebody_who_is_signed_in_shows_no_page_of_ours(self, acme, screens, site, scripts):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")

        start(page, client, prompt="none", state="again")

        assert query_of(page.url)["state"] == "again"
        assert subject(client, page.url) == str(user.pk)

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_a_form_of_another_site_finds_the_session(self, acme, screens, site, scripts, method):
        """Browsers keep SameSite=Lax cookies from a POST across sites."""
        site.origin = site.origin.replace("127.0.0.1", "localhost")  # another site than ours
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        fields = "".join(f'<input name="{n}" value="{v}">' for n, v in client.request(prompt="none").items())
        action = f"{acme.address}/oidc/authorize"
        site.pages["/start"] = f'<form method="{method}" action="{action}">{fields}<button>Go</button></form>'
        page = screens.open(java_script_enabled=scripts)
        page.goto(f"{acme.address}/sign-in")
        sign_in(page, user)
        shows(page, "Your account")
        page.goto(f"{site.origin}/start")

        page.get_by_role("button").click()
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)

    def test_a_long_form_of_another_site_keeps_other_tabs_and_finds_the_session(self, acme, screens, site):
        site.origin = site.origin.replace("127.0.0.1", "localhost")  # another site than ours
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        sent, action = client.request(state="x" * 9_000), f"{acme.address}/oidc/authorize"
        fields = "".join(f'<input name="{name}" value="{value}">' for name, value in sent.items())
        site.pages["/start"] = f'<form method="post" action="{action}">{fields}<button>Go</button></form>'
        page = screens.open()
        start(page, client)
        other = page.context.new_page()
        other.goto(f"{site.origin}/start")

        other.get_by_role("button").click()
        other.wait_for_url("**/sign-in?**")
        sign_in(page, user)
        page.wait_for_url(f"{site.callback}?**")
        other.goto(f"{site.origin}/start")
        other.get_by_role("button").click()
        other.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)
        assert subject(client, other.url) == str(user.pk)


class TestScripts:
    def test_the_password_can_be_looked_at_and_is_hidden_again(self, acme, screens):
        page = screens.open()
        page.goto(f"{acme.address}/sign-in")
        password = page.get_by_label("Password", exact=True)
        password.fill("secret")

        page.get_by_role("button", name="Show password").click()
        expect(password).to_have_attribute("type", "text")
        expect(page.get_by_role("status")).to_have_text("Your password is visible")

        page.get_by_role("button", name="Hide password").click()
        expect(password).to_have_attribute("type", "password")

    def test_a_double_click_sends_once(self, acme, screens, site):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open()
        posts: list[str] = []
        page.on("request", lambda request: posts.append(request.url) if request.method == "POST" else None)
        start(page, client)
        page.get_by_label("Username, email or phone").fill(user.username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)

        page.get_by_role("button", name="Sign in", exact=True).dblclick(no_wait_after=True)
        page.wait_for_url(f"{site.callback}?**")

        assert len(posts) == 1
        assert subject(client, page.url) == str(user.pk)

    def test_without_them_nothing_is_there_that_does_nothing(self, acme, screens):
        page = screens.open(java_script_enabled=False)

        page.goto(f"{acme.address}/sign-in")

        expect(page.get_by_role("button")).to_have_count(1)

    def test_without_them_a_double_click_ends_well(self, acme, screens, site):
        client, user = acme.application(redirect_uris=[site.callback]), acme.user()
        page = screens.open(java_script_enabled=False)
        start(page, client)
        page.get_by_label("Username, email or phone").fill(user.username)
        page.get_by_label("Password", exact=True).fill(PASSWORD)

        page.get_by_role("button", name="Sign in", exact=True).dblclick(no_wait_after=True)
        page.wait_for_url(f"{site.callback}?**")

        assert subject(client, page.url) == str(user.pk)


class TestSelectAccount:
    def test_continue_and_another_account(self, acme, screens, site, scripts):
        client = acme.application(redirect_uris=[site.callback])
        alice, bob = acme.user(name="Alice Example"), acme.user()
        page = screens.open(java_script_enabled=scripts)
        start(page, client)
        sign_in(page, alice)
        page.wait_for_url(f"{site.callback}?**")

        start(page, client, prompt="select_account")
        page.get_by_role("button", name="Alice Example").click()
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(alice.pk)

        start(page, client, prompt="select_account")
        page.get_by_role("button", name="Use another account").click()
        sign_in(page, bob)
        page.wait_for_url(f"{site.callback}?**")
        assert subject(client, page.url) == str(bob.pk)
