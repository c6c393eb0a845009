"""``id_token_hint``: whom the application means."""

import base64
import re
from uuid import uuid4

import jwt
import pytest

from oidc.grants.models import AuthorizationRequest
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from tests.support import forgery
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_refusal,
    interaction_at,
    next_page,
    parked,
    sent_back,
)
from tests.support.cast import signed_in
from tests.support.forms import form
from tests.support.third_parties import consent_page, press


def foreign_token() -> str:
    return jwt.encode({"sub": "1", "iss": "https://evil.example"}, "k" * 32, headers={"kid": str(uuid4())})


def unsigned(token: str) -> str:
    header = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


class TestIdTokenHint:
    def test_of_the_person_who_is_signed_in_is_answered(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        hint = client.tokens_for(user, browser)["id_token"]

        answer = browser.authorize(client, prompt="none", id_token_hint=hint)

        assert sent_back(answer, client).keys() == WITH_CODE

    @pytest.mark.parametrize("kind", ["expired", "of a rotated key", "of another application"])
    def test_says_who_is_meant_however_old_and_whoever_it_was_for(self, acme, kind):
        """Core 3.1.2.1 asks for no audience; the hint only narrows whom an answer may be for."""
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        issued_to = acme.application() if kind == "of another application" else client
        hint = issued_to.tokens_for(user, browser)["id_token"]
        if kind == "expired":
            claims = jwt.decode(hint, options={"verify_signature": False})
            hint = forgery.signed_by(acme, claims | {"iat": 1, "exp": 2}, typ="JWT")
        if kind == "of a rotated key":
            with acme.active():
                keys.rotate()
        stranger, _ = signed_in(acme)

        answer = browser.authorize(client, prompt="none", id_token_hint=hint)
        refusal = stranger.authorize(client, prompt="none", id_token_hint=hint)

        assert sent_back(answer, client).keys() == WITH_CODE
        assert find_refusal(refusal, client) == Refusal("login_required")

    def test_the_stored_form_of_a_hint_names_nobody_in_a_request(self, acme):
        client = acme.application()
        browser, user = signed_in(acme)

        answer = browser.authorize(client, prompt="none", id_token_hint=f"subject:{user.pk}")

        assert find_refusal(answer, client) == Refusal("login_required")

    def test_that_is_empty_asks_for_no_sign_in_after_consent(self, acme):
        client = acme.application(is_third_party=True)
        browser, _ = signed_in(acme)

        said = press(browser, consent_page(browser, client, id_token_hint=""))

        assert "code" in said

    def test_and_a_login_hint_may_both_be_sent(self, acme):
        client, user = acme.application(), acme.user()
        hint = client.tokens_for(user)["id_token"]
        browser, _ = signed_in(acme)

        answer = browser.authorize(client, id_token_hint=hint, login_hint=user.username)

        assert next_page(answer, acme).name == "sign-in"
        assert form(browser.get(answer.headers["Location"])).fields["identifier"] == user.username

    def test_case_A20_of_somebody_else_is_login_required(self, acme):
        client = acme.application()
        hint = client.tokens_for(acme.user())["id_token"]
        browser, _ = signed_in(acme)

        silent = browser.authorize(client, prompt="none", id_token_hint=hint)
        page = browser.authorize(client, id_token_hint=hint)

        assert find_refusal(silent, client) == Refusal("login_required")
        assert next_page(page, acme).name == "sign-in"

    def test_case_A20_is_answered_once_the_right_person_signed_in(self, acme):
        client, wanted = acme.application(), acme.user()
        hint = client.tokens_for(wanted)["id_token"]
        browser, _ = signed_in(acme)
        interaction = interaction_at("sign-in", browser.authorize(client, id_token_hint=hint), acme)

        onward = browser.sign_in(wanted, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_case_A20_tells_the_application_when_somebody_else_signs_in(self, acme):
        """OpenID Connect Core 3.1.2.1: otherwise, it MUST return an error, such as login_required."""
        client = acme.application()
        hint = client.tokens_for(acme.user())["id_token"]
        browser, other = signed_in(acme)
        interaction = interaction_at("sign-in", browser.authorize(client, id_token_hint=hint), acme)

        onward = browser.sign_in(other, interaction=interaction).json()["result"]["redirect_to"]

        assert find_refusal(browser.get(onward), client) == Refusal("login_required")
        assert parked(acme) == 0

    @pytest.mark.parametrize("kept", ["as today", "by release 0.1.0"])
    def test_case_A20_the_request_that_waits_keeps_whom_the_hint_names_and_not_the_token(self, acme, kept):
        client, wanted = acme.application(), acme.user()
        hint = client.tokens_for(wanted)["id_token"]
        browser, other = signed_in(acme)
        interaction = interaction_at("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        with acme.active():
            [waiting] = AuthorizationRequest.objects.filter(pk=interaction)
            assert hint not in waiting.query
            assert str(wanted.pk) in waiting.query
            if kept == "by release 0.1.0":
                waiting.query = re.sub("subject:[0-9a-f-]+", hint, waiting.query)
                assert hint in waiting.query
                waiting.save()

        onward = browser.sign_in(other, interaction=interaction).json()["result"]["redirect_to"]

        assert find_refusal(browser.get(onward), client) == Refusal("login_required")

    @pytest.mark.parametrize(
        "kind", ["garbage", "foreign", "unsigned", "access token", "long", "of a rival", "dots"]
    )
    def test_case_A21_what_is_no_id_token_of_ours_locks_nobody_out(self, acme, rival, kind):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        tokens = client.tokens_for(user, browser)
        hint = {
            "garbage": "garbage",
            "foreign": foreign_token(),
            "unsigned": unsigned(tokens["id_token"]),
            "access token": tokens["access_token"],
            "long": "a" * 6_000,
            "of a rival": rival.application().tokens_for(rival.user())["id_token"],
            "dots": "..",
        }[kind]

        silent = browser.authorize(client, prompt="none", id_token_hint=hint)
        interaction = interaction_at("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert find_refusal(silent, client) == Refusal("login_required")
        assert sent_back(browser.get(onward), client).keys() == WITH_CODE

    def test_of_a_key_that_was_deleted_locks_nobody_out(self, acme):
        client, user = acme.application(), acme.user()
        browser = acme.browser()
        hint = client.tokens_for(user, browser)["id_token"]
        with acme.active():
            old = SigningKey.objects.get()
            keys.rotate()
            keys.remove(old)

        interaction = interaction_at("sign-in", browser.authorize(client, id_token_hint=hint), acme)
        onward = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

        assert sent_back(browser.get(onward), client).keys() == WITH_CODE
