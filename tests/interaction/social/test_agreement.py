"""New users from another provider agree to the terms on a page before they exist: decision X19."""

import re

import pytest
from django.db.models.functions import Now

from audit.models import Entry
from identity.sessions.models import Session
from identity.users.models import User
from interaction.connectors.models import Connector
from interaction.social.models import SocialAttempt
from oidc.settings import services as oidc_settings
from tests.support.cast import query_of
from tests.support.forms import form
from tests.support.social import allow, away, back, came, connect, is_in, with_proven_email
from tests.support.social_pages import (
    ADA,
    EXPIRED,
    NOBODY,
    Refusal,
    count_arrivals,
    entry,
    find_refusal,
    only_user,
)
from tests.support.terms import MUST, PRIVACY, TERMS, ask
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("development")


@pytest.fixture
def asked(acme, provider):
    """A tenant whose new users must agree, with a provider."""
    ask(acme)
    connect(acme, provider.config)
    return acme


def arrive(browser, answer):
    """Follow the redirect to the page, and return it."""
    assert answer.status_code == 303, answer.text
    assert "/register/terms/" in answer.headers["Location"]
    return browser.get(answer.headers["Location"])


class TestAgreement:
    def test_decision_X19_nobody_exists_before_the_box_is_ticked(self, asked, provider):
        browser = asked.browser()

        page = arrive(browser, came(browser, provider, **ADA))

        assert count_arrivals(asked, browser) == NOBODY
        assert not Entry.objects.filter(tenant_id=asked.tenant.pk, key="SignIn.Social").exists()
        assert "ada@example.com" in page.text
        without = form(page).submit(browser, agreed_to_terms=None)
        assert (without.status_code, MUST in without.text) == (400, True)
        assert count_arrivals(asked, browser) == NOBODY
        answer = form(without).submit(browser, agreed_to_terms="on")
        assert (answer.status_code, is_in(browser)) == (303, True)
        user, written = only_user(asked), entry(asked)
        assert (user.name, user.email, user.email_verified) == ("Ada", "ada@example.com", True)
        assert written.payload["agreed_to_terms"] == [TERMS, PRIVACY]
        assert (written.payload["result"], written.user_id) == ("success", str(user.pk))

    def test_the_same_person_is_not_asked_again(self, asked, provider):
        browser = asked.browser()
        form(arrive(browser, came(browser, provider, **ADA))).submit(browser, agreed_to_terms="on")

        answer = came(asked.browser(), provider, **ADA)

        assert answer.headers["Location"] == f"/t/{asked.tenant.slug}/account"
        assert "agreed_to_terms" not in entry(asked).payload

    def test_a_user_whose_account_is_linked_by_address_is_not_asked(self, asked, provider):
        allow(asked, automatic_account_linking=True)
        with_proven_email(asked, "ada@example.com")

        answer = came(asked.browser(), provider, **ADA)

        assert answer.headers["Location"].endswith("/account")

    def test_goes_on_to_the_application_that_waits(self, asked, provider):
        client, browser = asked.application(), asked.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]
        answer = back(browser, provider.approve(away(browser, interaction=interaction), **ADA))

        page = arrive(browser, answer)
        signed_in = form(page).submit(browser, agreed_to_terms="on")

        assert client.application.name in page.text
        code = query_of(browser.get(signed_in.headers["Location"]).headers["Location"])["code"]
        assert client.redeem(code).status_code == 200
        assert entry(asked).application_id == str(client.application.pk)

    def test_the_choice_to_stay_signed_in_goes_along(self, asked, provider):
        with asked.active():
            oidc_settings.change({"keep_signed_in": True}, is_proven=True)
        browser = asked.browser()

        page = arrive(browser, back(browser, provider.approve(away(browser, keep_signed_in="on"), **ADA)))
        answer = form(page).submit(browser, agreed_to_terms="on")

        [cookie] = [text for text in answer.headers.get_list("Set-Cookie") if "gatehouse-session" in text]
        assert "Max-Age=" in cookie

    def test_a_closed_registration_stays_closed(self, asked, provider):
        ask(asked, identifiers=[])

        answer = came(asked.browser(), provider, **ADA)

        assert answer.status_code == 403


class TestAttempt:
    def test_works_once(self, asked, provider):
        browser = asked.browser()
        page = form(arrive(browser, came(browser, provider, **ADA)))
        page.submit(browser, agreed_to_terms="on")

        assert find_refusal(page.submit(browser, agreed_to_terms="on"), EXPIRED) == Refusal(400)

        with asked.active():
            assert (User.objects.count(), Session.objects.count()) == (1, 1)

    def test_of_two_at_once_one_makes_the_user(self, asked, provider):
        browser = asked.browser()
        page = form(arrive(browser, came(browser, provider, **ADA)))

        answers = at_once(2, lambda _: page.submit(browser, agreed_to_terms="on"))

        assert sorted(answer.status_code for answer in answers) == [303, 400]
        assert only_user(asked).email == "ada@example.com"

    def test_belongs_to_one_browser_and_one_tenant(self, asked, rival, provider):
        browser = asked.browser()
        location = came(browser, provider, **ADA).headers["Location"]
        page, path = form(browser.get(location)), location[location.index("/register") :]

        for stranger in (asked.browser(), rival.browser()):
            stranger.get("/sign-in/code")  # has a cookie of its own
            assert find_refusal(stranger.get(path), EXPIRED) == Refusal(400)
            sent = form(stranger.get("/sign-in")).fields | {"agreed_to_terms": "on"}
            assert find_refusal(stranger.post(path, data=sent), EXPIRED) == Refusal(400)
        assert find_refusal(asked.get(path), EXPIRED) == Refusal(400)

        assert count_arrivals(asked, asked.browser()) == NOBODY
        assert page.submit(browser, agreed_to_terms="on").status_code == 303

    def test_another_attempt_s_id_leads_nowhere(self, asked, provider):
        browser = asked.browser()
        away(browser)
        with asked.active():
            waiting = SocialAttempt.objects.get()

        assert find_refusal(browser.get(f"/register/terms/{waiting.pk}"), EXPIRED) == Refusal(400)
        sent = form(browser.get("/sign-in")).fields | {"agreed_to_terms": "on"}
        assert find_refusal(browser.post(f"/register/terms/{waiting.pk}", data=sent), EXPIRED) == Refusal(400)

        with asked.active():
            assert SocialAttempt.objects.filter(pk=waiting.pk).exists()

    def test_expires(self, asked, provider):
        browser = asked.browser()
        page = form(arrive(browser, came(browser, provider, **ADA)))
        with asked.active():
            SocialAttempt.objects.update(expires_at=Now())

        assert find_refusal(page.submit(browser, agreed_to_terms="on"), EXPIRED) == Refusal(400)
        assert count_arrivals(asked, browser) == NOBODY

    def test_needs_the_request_that_it_was_made_for(self, asked, provider):
        client, browser = asked.application(), asked.browser()
        interaction = query_of(browser.authorize(client).headers["Location"])["interaction"]
        other = query_of(browser.authorize(client).headers["Location"])["interaction"]
        page = form(
            arrive(browser, back(browser, provider.approve(away(browser, interaction=interaction), **ADA)))
        )

        answer = page.submit(browser, agreed_to_terms="on", interaction=other)

        assert find_refusal(answer, EXPIRED) == Refusal(400)
        assert page.submit(browser, agreed_to_terms="on").status_code == 303

    def test_ends_with_its_connector(self, asked, provider):
        browser = asked.browser()
        page = form(arrive(browser, came(browser, provider, **ADA)))
        with asked.active():
            Connector.objects.update(enabled=False)

        answer = page.submit(browser, agreed_to_terms="on")

        assert find_refusal(answer, "This way to sign in is not available") == Refusal(404)
        assert count_arrivals(asked, browser) == NOBODY

    def test_its_profile_is_encrypted(self, asked, provider):
        came(asked.browser(), provider, **ADA)

        with asked.active():
            stored = SocialAttempt.objects.values().get()
        assert "example.com" not in str(stored)
        assert re.fullmatch(r"[0-9a-f]{64}", stored["state_hash"])
