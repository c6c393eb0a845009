"""The API of the demo application that asks for a stronger sign-in: docs/examples/relying_party/api.py."""

import importlib.util
import time

import pytest
from django.conf import settings

from tests.support import factors
from tests.support.cast import query_of
from tests.support.factors import TOTP, enrol, switch_on
from tests.support.independent import key_set

WANTED = {"acr_values": "urn:service:acr:2fa phr phrh", "max_age": "900"}


@pytest.fixture
def api():
    path = settings.BASE_DIR / "docs/examples/relying_party/api.py"
    spec = importlib.util.spec_from_file_location("step_up_example", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def user(acme):
    return acme.user()


def call(api, acme, tokens):
    return api.transfer(f"Bearer {tokens['access_token']}", key_set(acme), acme.issuer)


def test_decision_M41_the_challenge_is_what_a_client_sends_on(api, acme, client, user):
    app = enrol(switch_on(acme), user, two_step=False)
    browser = acme.browser()
    refused = call(api, acme, client.tokens_for(user, browser))
    wanted = api.read_challenge(refused.challenge)

    place = browser.authorize(client, **wanted).headers["Location"]
    interaction = query_of(place)["interaction"]
    answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})
    response = browser.get(answer.json()["result"]["redirect_to"]).headers["Location"]
    accepted = call(api, acme, client.redeem(query_of(response)["code"]).json())

    assert (refused.status, wanted) == (401, WANTED)
    assert (accepted.status, accepted.body["acr"]) == (200, "urn:service:acr:2fa")


def test_decision_M41_an_old_sign_in_is_asked_again(api, acme, client, user, monkeypatch):
    browser = factors.signed_in(acme, user, enrol(switch_on(acme), user))
    code = query_of(browser.authorize(client).headers["Location"])["code"]
    tokens = client.redeem(code).json()
    assert call(api, acme, tokens).status == 200
    now = time.time()

    monkeypatch.setattr(api.time, "time", lambda: now + 1000)

    assert api.read_challenge(call(api, acme, tokens).challenge) == WANTED


def test_case_F11_an_id_token_or_a_foreign_token_is_no_access_token(api, acme, rival, client, user):
    switch_on(acme)
    tokens = client.tokens_for(user)
    foreign = rival.application().tokens_for(rival.user())

    for token in (tokens["id_token"], foreign["access_token"], "x", ""):
        answer = api.transfer(f"Bearer {token}", key_set(acme), acme.issuer)
        assert (answer.status, answer.body, api.read_challenge(answer.challenge)) == (
            401,
            {"error": "invalid_token"},
            {},
        )
