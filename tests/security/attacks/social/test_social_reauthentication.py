"""Another provider's single sign-on in place of a sign-in that was asked for."""

import time
from typing import Any

import pytest

from tests.support import codes, openid, social
from tests.support.cast import Browser, query_of
from tests.support.forms import form


class TestAV16:
    """The person went away and left the browser open; the other provider still knows them."""

    def request(self, browser: Browser, **asked: str) -> tuple[Any, str]:
        client = browser.world.application()
        sent = browser.authorize(client, **asked)
        return client, query_of(sent.headers["Location"])["interaction"]

    @pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "60"}])
    def test_attack_AV16_a_provider_that_cannot_ask_again_answers_for_the_person(self, acme, honest, asked):
        social.connect(acme, social.oauth2_config(honest.web.address), "oauth2")
        browser = acme.browser()
        _, interaction = self.request(browser, **asked)

        page = browser.get(f"/sign-in?interaction={interaction}")
        pressed = browser.get("/social/oauth2", params={"interaction": interaction})

        assert "/social/oauth2" not in page.text
        assert pressed.status_code == 404

    @pytest.mark.parametrize("asked", [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "60"}])
    def test_attack_AV16_a_sign_in_without_a_date_is_taken_for_a_new_one(self, acme, provider, asked):
        social.connect(acme, provider.config)
        browser = acme.browser()
        _, interaction = self.request(browser, **asked)

        query = provider.approve(social.away(browser, interaction=interaction), name="Ada")
        landed = social.back(browser, query)

        assert landed.status_code == 502
        assert not social.is_in(browser)

    @pytest.mark.parametrize("ago", [None, 3 * 24 * 3600], ids=["undated", "three days ago"])
    def test_attack_AV16_single_sign_on_opens_what_asks_for_a_recent_sign_in(self, acme, provider, ago):
        """At an unattended browser I press "Continue with …", and then take the account."""
        social.connect(acme, provider.config)
        browser = acme.browser()
        dated = {} if ago is None else {"auth_time": int(time.time()) - ago}
        social.came(browser, provider, name="Ada", **dated)

        deletion = browser.get("/account/data")
        linking = browser.get("/account/linked")
        linked = browser.post("/account/linked", data=form(linking).fields | {"link": "oidc"})
        client = acme.application()
        silent = browser.authorize(client, max_age="600", prompt="none")

        assert "Sign in again" in deletion.text
        assert linked.status_code == 403
        assert query_of(silent.headers["Location"])["error"] == "login_required"


class TestSigningInAgain:
    """The account page asks a user to sign in again, and no application waits."""

    def asked(self, browser: Browser, connector_id: str = "oidc") -> dict[str, str]:
        sent = query_of(social.away(browser, connector_id))
        return {name: sent[name] for name in ("prompt", "max_age") if name in sent}

    def test_attack_AS04_the_provider_is_asked_again_for_a_user_who_is_signed_in(self, acme, provider):
        social.connect(acme, provider.config)
        browser = acme.browser()
        first = self.asked(browser)
        social.came(browser, provider, name="Ada")

        assert first == {}
        assert self.asked(browser) == {"prompt": "login", "max_age": "0"}

    def test_what_it_dates_counts_and_what_it_does_not_date_signs_in_as_before(self, acme, provider):
        social.connect(acme, provider.config)
        browser = acme.browser()
        social.came(browser, provider, name="Ada")
        undated = social.came(browser, provider, name="Ada")
        old = browser.get("/account/data").text

        dated = social.came(browser, provider, name="Ada", auth_time=int(time.time()))

        assert (undated.status_code, dated.status_code) == (303, 303)
        assert "Sign in again" in old
        assert "Sign in again" not in browser.get("/account/data").text

    def test_a_provider_that_cannot_ask_is_sent_nothing(self, acme, provider, honest):
        social.connect(acme, provider.config)
        social.connect(acme, social.oauth2_config(honest.web.address), "oauth2")
        browser = acme.browser()
        social.came(browser, provider, name="Ada")

        assert self.asked(browser, "oauth2") == {}


class TestN5:
    """What is left for a request that wants a new sign-in."""

    def password_off(self, world: Any) -> None:
        methods = [{"identifier": "username", "password": False, "verification_code": False}]
        codes.experience(world, sign_in={"methods": methods})

    def test_decision_N5_with_no_way_left_the_client_gets_login_required(self, acme, honest):
        social.connect(acme, social.oauth2_config(honest.web.address), "oauth2")
        self.password_off(acme)
        browser = acme.browser()
        sent = browser.authorize(acme.application(), prompt="login")

        page = browser.get(sent.headers["Location"])
        again = browser.get(sent.headers["Location"])

        assert page.status_code == 303
        assert query_of(page.headers["Location"])["error"] == "login_required"
        assert query_of(page.headers["Location"])["state"] == "af0ifjsldkj"
        assert again.status_code == 400

    @pytest.mark.parametrize("named", [True, False], ids=["named", "newest"])
    def test_decision_N5_a_front_end_of_ones_own_is_offered_what_the_page_is(self, acme, provider, named):
        social.connect(acme, social.oauth2_config(provider.web.address), "oauth2")
        social.connect(acme, provider.config)
        browser, client = acme.browser(), acme.application()

        def offered(**asked: str) -> set[str]:
            sent = browser.authorize(client, **asked)
            query = query_of(sent.headers["Location"]) if named else {}
            shown = browser.get("/api/interaction/sign-in-experience", params=query)
            return {offer["connector_id"] for offer in shown.json()["result"]["social_connectors"]}

        assert offered() == {"oauth2", "oidc"}
        assert offered(prompt="login") == offered(max_age="0") == {"oidc"}

    def test_decision_N5_a_request_of_another_browser_is_offered_nothing(self, acme):
        sent = acme.browser().authorize(acme.application(), prompt="login")

        shown = acme.browser().get(
            "/api/interaction/sign-in-experience", params=query_of(sent.headers["Location"])
        )

        assert (shown.status_code, shown.json()["result"]) == (400, "")

    def test_decision_N5_a_request_that_asks_for_nothing_new_is_offered_all(self, acme, honest):
        social.connect(acme, social.oauth2_config(honest.web.address), "oauth2")
        self.password_off(acme)
        browser = acme.browser()
        sent = browser.authorize(acme.application())

        assert "/social/oauth2" in browser.get(sent.headers["Location"]).text

    def test_decision_N5_a_provider_that_dates_the_sign_in_satisfies_it(self, acme, provider):
        social.connect(acme, provider.config)
        client, browser = acme.application(), acme.browser()
        sent = browser.authorize(client, prompt="login")
        away = social.away(browser, interaction=query_of(sent.headers["Location"])["interaction"])
        now = int(time.time())

        landed = social.back(browser, provider.approve(away, name="Ada", auth_time=now))
        code = query_of(browser.get(landed.headers["Location"]).headers["Location"])["code"]

        assert openid.claims_of(client.redeem(code).json()["id_token"])["auth_time"] == now
        assert "Sign in again" not in browser.get("/account/data").text

    def test_decision_N5_an_id_token_says_no_time_that_nobody_knows(self, acme, provider):
        social.connect(acme, provider.config)
        client, browser = acme.application(), acme.browser()
        sent = browser.authorize(client)
        away = social.away(browser, interaction=query_of(sent.headers["Location"])["interaction"])

        landed = social.back(browser, provider.approve(away, name="Ada"))
        code = query_of(browser.get(landed.headers["Location"]).headers["Location"])["code"]

        assert "auth_time" not in openid.claims_of(client.redeem(code).json()["id_token"])
        assert "1970" not in browser.get("/account/browsers").text
