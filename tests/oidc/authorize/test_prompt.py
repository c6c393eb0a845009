"""``prompt`` and ``max_age``: when a person is asked again, and when nobody may be asked."""

from datetime import timedelta

import jwt
import pytest

from identity.sessions.models import Session
from identity.users import credentials
from identity.users import services as users
from tests.support.authorize import asks_for, is_answered, is_refused, parked
from tests.support.cast import signed_in
from tests.support.forms import form


class TestPrompt:
    def test_case_A15_none_without_a_session_is_login_required(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, prompt="none")

        is_refused(answer, client, "login_required")
        assert parked(acme) == 0
        assert "Set-Cookie" not in answer.headers

    def test_none_with_a_session_is_answered(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        is_answered(answer, client)

    def test_case_A29_none_of_a_third_party_without_consent_is_consent_required(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        is_refused(answer, client, "consent_required")

    @pytest.mark.parametrize(
        "end",
        [
            users.suspend,
            users.remove,
            lambda user: credentials.set_password(user, "another password"),
        ],
        ids=["suspended", "deleted", "new password"],
    )
    def test_case_A19_a_session_does_not_outlive_what_it_stands_on(self, acme, end):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            end(user)

        silent = browser.authorize(client, prompt="none")
        page = browser.authorize(client)

        is_refused(silent, client, "login_required")
        asks_for("sign-in", page, acme)

    def test_login_asks_again_and_moves_auth_time(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
            before = Session.objects.get().auth_time

        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        tokens = client.redeem(is_answered(browser.get(onward), client)).json()

        claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
        assert claims["auth_time"] >= before.timestamp() + 3500

    def test_login_cannot_be_skipped_by_going_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

        answer = browser.get(f"/oidc/authorize/{interaction}")

        assert asks_for("sign-in", answer, acme) == interaction

    def test_login_is_satisfied_once_whatever_the_back_button_shows(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        interaction = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        is_answered(browser.get(onward), client)

        page = browser.get(f"/sign-in?interaction={interaction}")
        again = browser.sign_in(user, interaction=interaction)

        assert "This sign-in has expired" in page.text
        assert (page.status_code, again.status_code) == (400, 400)
        asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

    def test_login_is_not_satisfied_by_signing_in_for_another_request(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        first = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)
        second = asks_for("sign-in", browser.authorize(client, prompt="login"), acme)

        browser.sign_in(user, interaction=second)

        assert asks_for("sign-in", browser.get(f"/oidc/authorize/{first}"), acme) == first
        is_answered(browser.get(f"/oidc/authorize/{second}"), client)

    def test_consent_asks_even_a_first_party(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="consent")

        interaction = asks_for("consent", answer, acme)
        assert asks_for("consent", browser.get(f"/oidc/authorize/{interaction}"), acme) == interaction

    def test_select_account_asks_who_goes_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="select_account")

        interaction = asks_for("select-account", answer, acme)
        assert asks_for("select-account", browser.get(f"/oidc/authorize/{interaction}"), acme) == interaction

    def test_select_account_without_a_session_is_a_sign_in_and_asks_no_more(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        interaction = asks_for("sign-in", browser.authorize(client, prompt="select_account"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_several_are_asked_one_after_the_other(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = asks_for("sign-in", browser.authorize(client, prompt="consent login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert asks_for("consent", browser.get(onward), acme) == interaction

    @pytest.mark.parametrize("second", ["login", "consent", "select_account", "none login", "nonesuch"])
    def test_case_A12_none_goes_with_nothing_else(self, insider, second):
        answer = insider.authorize(prompt=f"none {second}")

        is_refused(answer, insider.client, "invalid_request")

    def test_select_account_offers_the_hinted_account_as_another(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        asked = browser.authorize(client, prompt="select_account", login_hint="ada@example.com")

        page = browser.get(asked.headers["Location"])
        other = form(page).submit(browser, choice="other")

        assert user.username in page.text
        assert "ada@example.com" not in page.text
        assert form(browser.get(other.headers["Location"])).fields["identifier"] == "ada@example.com"

    @pytest.mark.parametrize("prompt", ["create", "LOGIN", "nonesuch", "<script>", "login2", "  "])
    def test_case_A12_an_unknown_value_is_ignored(self, insider, prompt):
        answer = insider.authorize(prompt=prompt)

        is_answered(answer, insider.client)


class TestMaxAge:
    @pytest.mark.parametrize(
        ("max_age", "age", "asks"),
        [("60", 90, True), ("120", 90, False), ("0", 0, True), ("0", -60, True), ("1", -60, False)],
    )
    def test_case_A22_asks_whoever_signed_in_too_long_ago(self, acme, max_age, age, asks):
        """The sign-in may have been at a server whose clock is ahead."""
        client = acme.application()
        browser, _ = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(seconds=age))

        page = browser.authorize(client, max_age=max_age)
        silent = browser.authorize(client, max_age=max_age, prompt="none")

        if asks:
            asks_for("sign-in", page, acme)
            is_refused(silent, client, "login_required")
        else:
            is_answered(page, client)
            is_answered(silent, client)

    def test_case_A22_is_satisfied_by_signing_in_once(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        is_answered(browser.get(onward), client)

    def test_case_A22_zero_is_a_prompt_for_login(self, acme):
        """OpenID Connect Core 3.1.2.1: max_age=0 is equivalent to prompt=login."""
        client = acme.application()
        browser, user = signed_in(acme)
        first = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        second = asks_for("sign-in", browser.authorize(client, max_age="0"), acme)
        with acme.active():  # a clock that runs ahead of this one
            Session.objects.update(auth_time=Session.objects.get().auth_time + timedelta(minutes=1))

        browser.sign_in(user, interaction=second)

        assert asks_for("sign-in", browser.get(f"/oidc/authorize/{first}"), acme) == first
        is_answered(browser.get(f"/oidc/authorize/{second}"), client)

    def test_case_A22_is_satisfied_by_a_sign_in_for_another_request_that_is_recent_enough(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
        first = asks_for("sign-in", browser.authorize(client, max_age="600"), acme)
        second = asks_for("sign-in", browser.authorize(client, max_age="600"), acme)

        browser.sign_in(user, interaction=second)

        for interaction in (first, second):
            tokens = client.redeem(is_answered(browser.get(f"/oidc/authorize/{interaction}"), client)).json()
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            assert claims["iat"] - claims["auth_time"] < 60

    def test_case_A22_tells_when_the_sign_in_was_though_nobody_was_asked(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(seconds=90))

        code = is_answered(browser.authorize(client, max_age="600", prompt="none"), client)

        claims = jwt.decode(client.redeem(code).json()["id_token"], options={"verify_signature": False})
        assert 90 <= claims["iat"] - claims["auth_time"] < 150

    def test_case_A22_a_very_large_one_asks_nobody(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, max_age="999999999")

        is_answered(answer, client)
