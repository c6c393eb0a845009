"""A form counts only in the browser that it was made for, and for as long as it may."""

import pytest
from django.conf import settings

from identity.sessions.models import Session
from oidc.grants.models import AuthorizationRequest, Consent
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.pages import opened, sessions, title, typed

STALE = "This page was open for too long"


class TestCsrf:
    @pytest.mark.parametrize("token", [None, "", "x", "x" * 64, "a" * 32])
    def test_case_J04_a_form_without_its_token_is_not_sent(self, acme, token):
        browser, user = acme.browser(), acme.user()
        page = form(browser.get("/sign-in"))

        answer = page.submit(browser, **typed(user), csrfmiddlewaretoken=token)

        assert answer.status_code == 403
        assert title(answer) == STALE
        assert "reload the page" in answer.text
        assert sessions(acme) == 0

    def test_case_J04_nor_with_the_token_of_another_browser(self, acme):
        attacker, victim, user = acme.browser(), acme.browser(), acme.user()
        victim.get("/sign-in")

        answer = form(attacker.get("/sign-in")).submit(victim, **typed(user))

        assert answer.status_code == 403
        assert sessions(acme) == 0

    def test_nor_without_the_cookie(self, acme):
        browser, user = acme.browser(), acme.user()
        page = form(browser.get("/sign-in"))
        browser.http.cookies.clear()

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 403
        assert "Your browser must accept cookies" in answer.text

    @pytest.mark.parametrize(
        "origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:1"]
    )
    def test_nor_from_another_origin_even_with_the_token(self, acme, origin):
        browser, user = acme.browser(), acme.user()

        page = form(browser.get("/sign-in"))
        browser.http.headers["Origin"] = origin

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 403
        assert sessions(acme) == 0

    def test_our_own_origin_is_fine(self, acme):
        browser, user = acme.browser(), acme.user()

        page = form(browser.get("/sign-in"))
        browser.http.headers["Origin"] = settings.BASE_URL

        answer = page.submit(browser, **typed(user))

        assert answer.status_code == 303

    @pytest.mark.parametrize("page", ["consent", "select-account"])
    def test_choices_need_the_token_too(self, acme, page):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)
        opened(browser, client)
        with acme.active():
            parked, session = AuthorizationRequest.objects.get(), Session.objects.get()
        sent = {"interaction": str(parked.pk), "session": str(session.pk)}

        for choice in ("allow", "continue"):
            answer = browser.post(f"/{page}", data=sent | {"choice": choice})
            assert answer.status_code == 403
        with acme.active():
            parked.refresh_from_db()
            assert (parked.consented_at, parked.account_chosen_at) == (None, None)
            assert not Consent.objects.exists()
