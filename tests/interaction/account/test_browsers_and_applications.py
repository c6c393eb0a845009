"""Where a person is signed in, what they agreed to, and how both end."""

from typing import Any

import pytest

from identity.sessions.models import Session
from identity.users.models import User
from oidc.grants.models import AuthorizationCode, Consent, RefreshFamily
from tests.support.account import entries, is_signed_in, send
from tests.support.cast import Browser, RelyingParty, World, query_of, signed_in
from tests.support.forms import form


class TestBrowsers:
    def test_lists_them_in_plain_words_and_marks_this_one(self, acme):
        browser, user = signed_in(acme)
        agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
        other = acme.browser()
        other.http.headers["User-Agent"] = agent
        other.sign_in(user)
        bystander, _ = signed_in(acme)

        page = browser.get("/account/browsers").text

        assert page.count("This device") == 1
        assert "Firefox on Linux" in page
        assert "127.0.0.1" in page
        assert page.count('name="end"') == 2  # that one, and all others
        assert is_signed_in(bystander)

    def test_ends_one(self, acme):
        here, user = signed_in(acme)
        there, elsewhere = acme.browser(), acme.browser()
        for browser in (there, elsewhere):
            browser.sign_in(user)
        with acme.active():
            ended = str(Session.objects.order_by("created_at", "pk")[1].pk)

        answer = send(here, "browsers", end=ended)

        assert "Signed out." in here.get(answer.headers["Location"]).text
        assert [is_signed_in(b) for b in (here, there, elsewhere)] == [True, False, True]
        entry = entries(acme, "Session.End")[0]
        assert (entry.user_id, entry.payload["session_id"]) == (str(user.pk), ended)

    def test_ends_all_others_and_what_hangs_on_them(self, acme):
        client, user = acme.application(), acme.user()
        here, there = acme.browser(), acme.browser()
        here.sign_in(user)
        token = client.tokens_for(user, there, scope="openid")["access_token"]
        bystander, _ = signed_in(acme)

        send(here, "browsers", end="others")

        assert [is_signed_in(b) for b in (here, there, bystander)] == [True, False, True]
        assert client.userinfo(token).status_code == 401
        entry = entries(acme, "Session.End")[0]
        assert (entry.user_id, entry.payload["count"]) == (str(user.pk), 1)
        assert send(here, "browsers", end="others").status_code == 303
        assert len(entries(acme, "Session.End")) == 1

    def test_knows_nobody_elses(self, acme, rival):
        browser, user = signed_in(acme)
        acme.browser().sign_in(user)
        others = [signed_in(acme)[0], signed_in(rival)[0]]
        ids = ["", "x", "others ", "00000000-0000-7000-8000-000000000000"]
        for world in (acme, rival):
            with world.active():
                ids += [str(s.pk) for s in Session.objects.exclude(user_id=user.pk)]
        assert len(ids) == 6

        answers = [send(browser, "browsers", end=pk) for pk in ids]

        assert {answer.status_code for answer in answers} == {404}
        assert all("This device is already signed out" in answer.text for answer in answers)
        assert all(is_signed_in(other) for other in others)

    def test_a_great_many_fit_on_the_page(self, acme):
        browser, user = signed_in(acme)
        with acme.active():
            one = Session.objects.get()
            Session.objects.bulk_create(
                Session(
                    user=user,
                    token_hash=str(number),
                    epoch=one.epoch,
                    auth_time=one.auth_time,
                    last_used_at=one.last_used_at,
                    expires_at=one.expires_at,
                    ip="2001:db8::1",
                    user_agent="x" * 512,
                )
                for number in range(60)
            )

        page = browser.get("/account/browsers")

        assert len(page.content) < 50 * 1024
        assert "and 30 more" in page.text
        assert "61 devices" in browser.get("/account").text
        send(browser, "browsers", end="others")
        with acme.active():
            assert Session.objects.live().get().pk == one.pk


class TestApplications:
    def consent(self, world: World, client: RelyingParty, user: User, browser: Browser) -> dict[str, Any]:
        """Sign in, agree, and return the tokens."""
        browser.sign_in(user)
        asked = browser.get(browser.authorize(client).headers["Location"])
        answer = form(asked).submit(browser, choice="allow")
        code = query_of(browser.get(answer.headers["Location"]).headers["Location"])["code"]
        tokens: dict[str, Any] = client.redeem(code).json()
        return tokens

    def test_says_what_each_may_do_and_since_when(self, acme):
        browser, user = acme.browser(), acme.user()
        printer = acme.application(name="Photo <Prints>", is_third_party=True)
        payroll = acme.application(name="Payroll")
        acme.application(name="Never used")
        self.consent(acme, printer, user, browser)
        payroll.tokens_for(user, browser)

        page = browser.get("/account/applications").text

        assert "Photo &lt;Prints&gt;" in page
        assert page.count("Third-party app") == 1
        assert page.index("Payroll") < page.index("Photo")
        assert "Never used" not in page
        for words in ("See your profile", "See your email address", "Stay connected"):
            assert page.count(words) == 2
        assert "2 applications" in browser.get("/account").text

    def test_removing_ends_consent_tokens_and_codes_at_once(self, acme):
        browser, user = acme.browser(), acme.user()
        client = acme.application(is_third_party=True)
        tokens = self.consent(acme, client, user, browser)
        waiting = query_of(browser.authorize(client).headers["Location"])["code"]

        answer = send(browser, "applications", revoke=str(client.application.pk))

        assert "Removed. The application" in browser.get(answer.headers["Location"]).text
        assert client.userinfo(tokens["access_token"]).status_code == 401
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert client.redeem(waiting).json()["error"] == "invalid_grant"
        with acme.active():
            assert not Consent.objects.exists()
            assert not RefreshFamily.objects.live().exists()
            assert not AuthorizationCode.objects.filter(consumed_at=None).exists()
        assert is_signed_in(browser)
        assert "/consent" in browser.authorize(client).headers["Location"]
        entry = entries(acme, "Consent.Revoke")[0]
        assert (entry.user_id, entry.application_id) == (str(user.pk), str(client.application.pk))
        assert entries(acme, "Token.Revoke")[0].payload["reason"] == "consent_revoked"
        assert "No connected applications" in browser.get("/account/applications").text

    def test_leaves_other_applications_and_other_people_alone(self, acme):
        browser, user = acme.browser(), acme.user()
        client, other = acme.application(), acme.application()
        client.tokens_for(user, browser)
        kept = other.tokens_for(user, browser)
        neighbours = client.tokens_for(acme.user())

        send(browser, "applications", revoke=str(client.application.pk))

        assert other.userinfo(kept["access_token"]).status_code == 200
        assert client.userinfo(neighbours["access_token"]).status_code == 200

    def test_knows_no_other_ids(self, acme, rival):
        browser, user = acme.browser(), acme.user()
        client = acme.application()
        client.tokens_for(user, browser)
        foreign, unused = rival.application(), acme.application()
        foreign.tokens_for(rival.user())
        ids = ["", "x", str(foreign.application.pk), str(unused.application.pk), client.client_id]

        answers = [send(browser, "applications", revoke=pk) for pk in ids]

        assert {answer.status_code for answer in answers} == {404}
        with acme.active():
            assert RefreshFamily.objects.live().count() == 1
        with rival.active():
            assert RefreshFamily.objects.live().count() == 1


@pytest.mark.parametrize(
    ("language", "used"),
    [
        ("en", ", used just now"),
        ("ar", "، استُخدم للتو"),
        ("ja", "、たった今使用"),
    ],
)
@pytest.mark.parametrize(("place", "before"), [("browsers", "</bdi>"), ("applications", "</time>")])
def test_the_separator_of_the_language_is_before_the_last_use(acme, place, before, language, used):
    browser, user = acme.browser(), acme.user()
    acme.browser().sign_in(user)
    acme.application().tokens_for(user, browser)

    page = browser.get(f"/account/{place}", headers={"Accept-Language": language}).text

    assert f"{before}{used}" in page
