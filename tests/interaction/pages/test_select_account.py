"""The page that asks who goes on, and the pages for somebody who is signed in."""

import httpx

from oidc.grants.models import Consent
from tests.support.cast import query_of, signed_in
from tests.support.forms import form
from tests.support.pages import followed, opened, subject, title, typed


class TestSelectAccount:
    def test_shows_who_is_signed_in(self, acme):
        browser, _ = signed_in(acme, name="Alice Example")

        page = opened(browser, acme.application(name="Payroll"), prompt="select_account")

        assert title(page) == "Choose an account"
        assert "Alice Example" in page.text
        assert "Payroll" in page.text
        assert form(page).buttons == [("choice", "continue"), ("choice", "other")]

    def test_continue_goes_on_as_that_person(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        page = opened(browser, client, prompt="select_account")

        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert subject(client, answer) == str(user.pk)

    def test_other_goes_on_as_whoever_signs_in(self, acme):
        client, other = acme.application(), acme.user()
        browser, _ = signed_in(acme)
        page = opened(browser, client, prompt="select_account")

        sign_in = followed(browser, form(page).submit(browser, choice="other"))
        answer = followed(browser, form(sign_in).submit(browser, **typed(other)))

        assert title(sign_in).startswith("Sign in to ")
        assert subject(client, answer) == str(other.pk)

    def test_case_J17_continue_never_means_somebody_else(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme, name="Alice Example")
        page = opened(browser, client, prompt="select_account")
        browser.sign_in(acme.user(name="Bob Example"))

        answer = form(page).submit(browser, choice="continue")

        assert answer.status_code == 200
        assert "Bob Example" in answer.text

    def test_does_not_skip_the_sign_in_that_was_asked_for(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        interaction = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]

        page = browser.get(f"/select-account?interaction={interaction}")
        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert title(answer).startswith("Sign in to ")

    def test_without_a_session_leads_to_the_sign_in_page(self, acme):
        browser = acme.browser()
        interaction = query_of(browser.authorize(acme.application()).headers["Location"])["interaction"]

        answer = browser.get(f"/select-account?interaction={interaction}")

        assert answer.headers["Location"] == f"/t/{acme.tenant.slug}/sign-in?interaction={interaction}"


class TestClaimedRequest:
    """A request that one person signed in for, while somebody else signs in in another tab."""

    def test_case_J17_the_next_person_cannot_agree_for_it(self, acme):
        client = acme.application(is_third_party=True)
        browser, bob = acme.browser(), acme.user()
        claimed = form(followed(browser, form(opened(browser, client)).submit(browser, **typed(acme.user()))))
        other = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]
        browser.sign_in(bob, interaction=other)

        shown = followed(browser, browser.get(f"/consent?interaction={claimed.fields['interaction']}"))
        answer = followed(browser, browser.post("/consent", data=claimed.fields | {"choice": "allow"}))

        assert title(shown).startswith("Sign in to ")
        assert title(answer).startswith("Sign in to ")
        with acme.active():
            assert not Consent.objects.exists()

    def test_case_J17_the_next_person_cannot_continue_it(self, acme):
        client = acme.application()
        browser, bob = acme.browser(), acme.user()
        sign_in = form(opened(browser, client, prompt="login consent"))
        sign_in.submit(browser, **typed(acme.user()))
        other = query_of(browser.authorize(client, prompt="login").headers["Location"])["interaction"]
        browser.sign_in(bob, interaction=other)

        page = browser.get(f"/select-account?interaction={sign_in.fields['interaction']}")
        answer = followed(browser, form(page).submit(browser, choice="continue"))

        assert title(answer).startswith("Sign in to ")


class TestAccount:
    def test_shows_who_is_signed_in(self, acme):
        user = acme.user(name="Alice <b>Example", email="alice@example.com", phone="+4915112345678")
        browser = acme.browser()
        browser.sign_in(user)

        page = browser.get("/account")
        browsers = browser.get("/account/browsers")

        for text in ("Alice &lt;b&gt;Example", user.username, "alice@example.com", "+4915112345678"):
            assert text in page.text
        assert "127.0.0.1" in browsers.text
        assert "<b>" not in browsers.text
        assert form(page).action == f"/t/{acme.tenant.slug}/oidc/end-session"

    def test_leads_to_the_sign_in_page_without_a_session(self, acme):
        answer = acme.get("/account")

        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{acme.tenant.slug}/sign-in")

    def test_home_leads_there(self, acme):
        answer = acme.get("/")

        assert (answer.status_code, answer.headers["Location"]) == (303, f"/t/{acme.tenant.slug}/account")

    def test_signs_out_with_one_button(self, acme):
        browser, _ = signed_in(acme)

        answer = form(browser.get("/account")).submit(browser)

        assert title(answer) == "You are signed out"
        assert browser.get("/account").status_code == 303

    def test_the_default_tenant_has_pages_at_the_root(self, address):
        answer = httpx.get(f"{address}/sign-in")

        assert title(answer) == "Sign in to Gatehouse"
