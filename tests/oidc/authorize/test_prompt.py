"""``prompt`` and ``max_age``: when a person is asked again, and when nobody may be asked."""

from datetime import timedelta

import jwt
import pytest

from identity.sessions.models import Session
from identity.users import assigned_passwords
from identity.users import services as users
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_code,
    find_refusal,
    interaction_at,
    next_page,
    parked,
    sent_back,
)
from tests.support.cast import signed_in
from tests.support.forms import form


class TestPrompt:
    def test_case_A15_none_without_a_session_is_login_required(self, acme):
        client = acme.application()

        answer = acme.browser().authorize(client, prompt="none")

        assert find_refusal(answer, client) == Refusal("login_required")
        assert parked(acme) == 0
        assert "Set-Cookie" not in answer.headers

    def test_none_with_a_session_is_answered(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        assert sent_back(answer, client).keys() == WITH_CODE

    def test_case_A29_none_of_a_third_party_without_consent_is_consent_required(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none")

        assert find_refusal(answer, client) == Refusal("consent_required")

    @pytest.mark.parametrize(
        "end",
        [
            users.suspend,
            users.remove,
            lambda user: assigned_passwords.set_password(user, "another password", is_proven=True),
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

        assert find_refusal(silent, client) == Refusal("login_required")
        assert next_page(page, acme).name == "sign-in"

    def test_login_asks_again_and_moves_auth_time(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
            before = Session.objects.get().auth_time

        interaction = interaction_at("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        tokens = client.redeem(find_code(browser.get(onward), client)).json()

        claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
        assert claims["auth_time"] >= before.timestamp() + 3500

    def test_login_cannot_be_skipped_by_going_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        interaction = interaction_at("sign-in", browser.authorize(client, prompt="login"), acme)

        answer = browser.get(f"/oidc/authorize/{interaction}")

        assert next_page(answer, acme) == ("sign-in", interaction)

    def test_login_is_satisfied_once_whatever_the_back_button_shows(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        interaction = interaction_at("sign-in", browser.authorize(client, prompt="login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

        page = browser.get(f"/sign-in?interaction={interaction}")
        again = browser.sign_in(user, interaction=interaction)

        assert "This sign-in has expired" in page.text
        assert (page.status_code, again.status_code) == (400, 400)
        assert next_page(browser.authorize(client, prompt="login"), acme).name == "sign-in"

    def test_login_is_not_satisfied_by_signing_in_for_another_request(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        first = interaction_at("sign-in", browser.authorize(client, prompt="login"), acme)
        second = interaction_at("sign-in", browser.authorize(client, prompt="login"), acme)

        browser.sign_in(user, interaction=second)

        assert next_page(browser.get(f"/oidc/authorize/{first}"), acme) == ("sign-in", first)
        assert sent_back(browser.get(f"/oidc/authorize/{second}"), client).keys() == WITH_CODE

    def test_consent_asks_even_a_first_party(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="consent")

        interaction = interaction_at("consent", answer, acme)
        assert next_page(browser.get(f"/oidc/authorize/{interaction}"), acme) == ("consent", interaction)

    def test_select_account_asks_who_goes_on(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="select_account")

        interaction = interaction_at("select-account", answer, acme)
        again = browser.get(f"/oidc/authorize/{interaction}")
        assert next_page(again, acme) == ("select-account", interaction)

    def test_select_account_without_a_session_is_a_sign_in_and_asks_no_more(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()

        interaction = interaction_at("sign-in", browser.authorize(client, prompt="select_account"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_several_are_asked_one_after_the_other(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = interaction_at("sign-in", browser.authorize(client, prompt="consent login"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert next_page(browser.get(onward), acme) == ("consent", interaction)

    @pytest.mark.parametrize("second", ["login", "consent", "select_account", "none login", "nonesuch"])
    def test_case_A12_none_goes_with_nothing_else(self, insider, second):
        answer = insider.authorize(prompt=f"none {second}")

        assert find_refusal(answer, insider.client) == Refusal("invalid_request")

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

        assert sent_back(answer, insider.client).keys() == WITH_CODE


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
            assert next_page(page, acme).name == "sign-in"
            assert find_refusal(silent, client) == Refusal("login_required")
        else:
            assert sent_back(page, client).keys() == WITH_CODE
            assert sent_back(silent, client).keys() == WITH_CODE

    def test_case_A22_is_satisfied_by_signing_in_once(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        interaction = interaction_at("sign-in", browser.authorize(client, max_age="0"), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_case_A22_zero_is_a_prompt_for_login(self, acme):
        """OpenID Connect Core 3.1.2.1: max_age=0 is equivalent to prompt=login."""
        client = acme.application()
        browser, user = signed_in(acme)
        first = interaction_at("sign-in", browser.authorize(client, max_age="0"), acme)
        second = interaction_at("sign-in", browser.authorize(client, max_age="0"), acme)
        with acme.active():  # a clock that runs ahead of this one
            Session.objects.update(auth_time=Session.objects.get().auth_time + timedelta(minutes=1))

        browser.sign_in(user, interaction=second)

        assert next_page(browser.get(f"/oidc/authorize/{first}"), acme) == ("sign-in", first)
        assert sent_back(browser.get(f"/oidc/authorize/{second}"), client).keys() == WITH_CODE

    def test_case_A22_is_satisfied_by_a_sign_in_for_another_request_that_is_recent_enough(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(hours=1))
        first = interaction_at("sign-in", browser.authorize(client, max_age="600"), acme)
        second = interaction_at("sign-in", browser.authorize(client, max_age="600"), acme)

        browser.sign_in(user, interaction=second)

        for interaction in (first, second):
            tokens = client.redeem(find_code(browser.get(f"/oidc/authorize/{interaction}"), client)).json()
            claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
            assert claims["iat"] - claims["auth_time"] < 60

    def test_case_A22_tells_when_the_sign_in_was_though_nobody_was_asked(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)
        with acme.active():
            Session.objects.update(auth_time=Session.objects.get().auth_time - timedelta(seconds=90))

        code = find_code(browser.authorize(client, max_age="600", prompt="none"), client)

        claims = jwt.decode(client.redeem(code).json()["id_token"], options={"verify_signature": False})
        assert 90 <= claims["iat"] - claims["auth_time"] < 150

    def test_case_A22_a_very_large_one_asks_nobody(self, acme):
        client = acme.application()
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, max_age="999999999")

        assert sent_back(answer, client).keys() == WITH_CODE
