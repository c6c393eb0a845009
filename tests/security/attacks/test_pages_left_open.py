"""A page that is left open after a sign-in which the request demanded, and answered by another person."""

import json
from datetime import timedelta

import pytest
from django.db.models import F

from identity.sessions.models import Session
from oidc.applications import services as applications
from oidc.grants.models import AuthorizationRequest, Consent
from tests.support import factors
from tests.support.authorize import (
    WITH_CODE,
    Refusal,
    find_code,
    find_refusal,
    interaction_at,
    next_page,
    sent_back,
)
from tests.support.forms import form
from tests.support.third_parties import claims_of

TWO = "urn:service:acr:2fa"
LATER = timedelta(minutes=10, seconds=5)
DEMANDS = [{"prompt": "login"}, {"max_age": "0"}, {"max_age": "1"}, {"max_age": "600"}]
IDS = ["prompt=login", "max_age=0", "max_age=1", "max_age=600"]


@pytest.fixture
def client(acme):
    return acme.application(is_third_party=True)


@pytest.fixture
def user(acme):
    return acme.user()


def pass_time(world, by=LATER):
    """Let the sign-in be longer ago, by the clock of the database."""
    with world.active():
        AuthorizationRequest.objects.update(signed_in_at=F("signed_in_at") - by)
        Session.objects.update(auth_time=F("auth_time") - by)


def consents(world):
    with world.active():
        return Consent.objects.count()


def sign_in_and_open(browser, client, user, page="consent", **asked):
    """Sign in for a request, and open the page that follows. Return its interaction and the page."""
    interaction = interaction_at("sign-in", browser.authorize(client, **asked), client.world)
    place = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
    assert next_page(browser.get(place), client.world).name == page
    return interaction, browser.get(f"/{page}?interaction={interaction}")


@pytest.mark.parametrize("asked", DEMANDS, ids=IDS)
def test_attack_AV34_the_consent_page_is_answered_after_ten_minutes(acme, client, user, asked):
    browser = acme.browser()
    interaction, page = sign_in_and_open(browser, client, user, **asked)
    pass_time(acme)

    onward = form(page).submit(browser, choice="allow")
    answer = browser.get(onward.headers["Location"])

    assert next_page(answer, acme) == ("sign-in", interaction)
    assert consents(acme) == 0


@pytest.mark.parametrize("asked", DEMANDS, ids=IDS)
def test_the_user_has_ten_minutes_for_the_consent_page(acme, client, user, asked):
    browser = acme.browser()
    _, page = sign_in_and_open(browser, client, user, **asked)
    pass_time(acme, timedelta(minutes=9, seconds=30))

    onward = form(page).submit(browser, choice="allow")

    assert sent_back(browser.get(onward.headers["Location"]), client).keys() == WITH_CODE


def test_the_user_signs_in_again_and_continues(acme, client, user):
    browser = acme.browser()
    interaction, page = sign_in_and_open(browser, client, user, prompt="login")
    pass_time(acme)
    form(page).submit(browser, choice="allow")

    asked = browser.get(f"/sign-in?interaction={interaction}")
    place = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
    assert next_page(browser.get(place), acme).name == "consent"
    onward = form(browser.get(f"/consent?interaction={interaction}")).submit(browser, choice="allow")
    tokens = client.redeem(find_code(browser.get(onward.headers["Location"]), client)).json()

    assert user.username in asked.text
    claims = claims_of(tokens["id_token"])
    assert claims["iat"] - claims["auth_time"] < 60


def test_attack_AV34_a_consent_from_before_does_not_survive_the_new_sign_in(acme, user):
    """The page was answered in time, but the answer reached the application's address late."""
    client, browser = acme.application(), acme.browser()
    interaction, page = sign_in_and_open(browser, client, user, prompt="login consent")
    form(page).submit(browser, choice="allow")
    pass_time(acme)

    assert next_page(browser.get(f"/oidc/authorize/{interaction}"), acme).name == "sign-in"
    place = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

    assert next_page(browser.get(place), acme) == ("consent", interaction)


def test_a_larger_max_age_counts_by_the_sign_in(acme, client, user):
    browser = acme.browser()
    _, page = sign_in_and_open(browser, client, user, max_age="3600")
    pass_time(acme)

    onward = form(page).submit(browser, choice="allow")

    assert sent_back(browser.get(onward.headers["Location"]), client).keys() == WITH_CODE


def test_a_request_that_demands_no_sign_in_waits_longer(acme, client, user):
    browser = acme.browser()
    _, page = sign_in_and_open(browser, client, user)
    pass_time(acme, timedelta(minutes=50))

    onward = form(page).submit(browser, choice="allow")

    assert sent_back(browser.get(onward.headers["Location"]), client).keys() == WITH_CODE


def test_attack_AV34_the_default_of_the_application_is_a_demand_too(acme, client, user):
    with acme.active():
        applications.change(client.application, {"default_max_age": 0}, is_proven=True)
    browser = acme.browser()
    _, page = sign_in_and_open(browser, client, user)
    pass_time(acme)

    onward = form(page).submit(browser, choice="allow")

    assert next_page(browser.get(onward.headers["Location"]), acme).name == "sign-in"


def test_a_refusal_needs_no_new_sign_in(acme, client, user):
    browser = acme.browser()
    _, page = sign_in_and_open(browser, client, user, prompt="login")
    pass_time(acme)

    answer = form(page).submit(browser, choice="deny")

    assert find_refusal(answer, client) == Refusal("access_denied")


def test_attack_AV34_a_proof_of_the_second_factor_is_no_new_sign_in(acme, client, user):
    """The first factor is old, and the page for the second one is opened by its address."""
    app = factors.enrol(factors.switch_on(acme), user)
    browser = factors.signed_in(acme, user, app)
    demand = json.dumps({"id_token": {"acr": {"essential": True, "values": [TWO]}}})
    interaction = interaction_at("sign-in", browser.authorize(client, prompt="login", claims=demand), acme)
    factors.half(browser, user, interaction=interaction)
    code = {"interaction": interaction, "code": app.code()}
    place = browser.post(factors.TOTP, json=code).json()["result"]["redirect_to"]
    assert next_page(browser.get(place), acme).name == "consent"
    pass_time(acme)
    with acme.active():
        Session.objects.update(level=1, second_factor_at=None)

    proven = browser.post(factors.TOTP, json=code | {"code": app.code()})

    assert proven.status_code == 200, proven.text
    assert next_page(browser.get(f"/oidc/authorize/{interaction}"), acme) == ("sign-in", interaction)
