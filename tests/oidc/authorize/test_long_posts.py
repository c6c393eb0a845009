"""A POST of another site that is too long to be repeated as a GET. It comes without the browser's cookies."""

from typing import Any

import httpx
import pytest

from oidc.grants.models import AuthorizationRequest
from tests.support.authorize import (
    WITH_CODE,
    ErrorPage,
    Refusal,
    find_error_page,
    find_refusal,
    interaction_at,
    next_page,
    parked,
    sent_back,
)
from tests.support.cast import Browser, RelyingParty, signed_in

LONG = "x" * 12_000
CROSS_SITE = {"Sec-Fetch-Site": "cross-site"}


def post(client: RelyingParty, *, headers: dict[str, str] | None = None, **asked: Any) -> httpx.Response:
    """Send the form of another site as browsers do: without SameSite=Lax cookies."""
    form = client.request(**{"state": LONG, **asked})
    return client.world.post("/oidc/authorize", data=form, headers=headers or CROSS_SITE)


def follow(answer: httpx.Response, browser: Browser) -> httpx.Response:
    """Follow the redirect of the form, which has the cookies."""
    assert answer.status_code == 303, answer.text
    assert "Set-Cookie" not in answer.headers
    claimed: httpx.Response = browser.get(answer.headers["Location"])
    assert claimed.status_code == 303, claimed.text
    onward: httpx.Response = browser.get(claimed.headers["Location"])
    return onward


@pytest.mark.parametrize("headers", [CROSS_SITE, {"Origin": "https://rp.example"}, {"Origin": "null"}])
def test_attack_AV35_leaves_the_sign_in_of_another_tab_alone(acme, headers):
    client, user = acme.application(), acme.user()
    browser = acme.browser()
    waiting = interaction_at("sign-in", browser.authorize(client), acme)

    posted = interaction_at("sign-in", follow(post(client, headers=headers), browser), acme)
    places = [
        browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]
        for interaction in (waiting, posted)
    ]

    assert sent_back(browser.get(f"/oidc/authorize/{waiting}"), client).keys() == WITH_CODE
    assert sent_back(browser.get(places[1]), client)["state"] == LONG


def test_is_answered_for_the_user_who_is_signed_in(acme):
    client = acme.application()
    browser, _ = signed_in(acme)

    answer = follow(post(client), browser)

    assert sent_back(answer, client)["state"] == LONG
    assert parked(acme) == 0


def test_continues_in_a_browser_without_cookies(acme):
    client, user = acme.application(), acme.user()
    browser = acme.browser()

    interaction = interaction_at("sign-in", follow(post(client), browser), acme)
    place = browser.sign_in(user, interaction=interaction).json()["result"]["redirect_to"]

    assert sent_back(browser.get(place), client)["state"] == LONG


def test_belongs_to_the_first_browser_that_follows_the_redirect(acme):
    client, user = acme.application(), acme.user()
    browser, other = acme.browser(), acme.browser()
    place = post(client).headers["Location"]
    interaction = interaction_at("sign-in", browser.get(browser.get(place).headers["Location"]), acme)

    late = other.get(place)

    assert late.status_code == 400
    assert "This sign-in has expired" in late.text
    assert "Set-Cookie" not in late.headers
    assert browser.sign_in(user, interaction=interaction).status_code == 200


def test_can_be_reloaded(acme):
    client, browser = acme.application(), acme.browser()
    place = post(client).headers["Location"]
    browser.get(place)

    again = browser.get(place)

    assert next_page(again, acme).name == "sign-in"


def test_attack_AV35_belongs_to_nobody_until_the_redirect_is_followed(acme):
    client, user = acme.application(), acme.user()
    browser, nobody = acme.browser(), acme.browser()
    browser.authorize(client)
    place = post(client).headers["Location"].partition("?")[0]
    interaction = place.rpartition("/")[2]

    answers = [
        each
        for one in (browser, nobody)
        for each in (
            one.get(place),
            one.get(f"/sign-in?interaction={interaction}"),
            one.sign_in(user, interaction=interaction),
        )
    ]

    assert {answer.status_code for answer in answers} == {400}


@pytest.mark.parametrize("claim", ["1", "", "0"])
def test_attack_AV35_a_request_of_a_browser_cannot_be_claimed(acme, claim):
    client = acme.application()
    browser, thief = acme.browser(), acme.browser()
    interaction = interaction_at("sign-in", browser.authorize(client), acme)

    stolen = thief.get(f"/oidc/authorize/{interaction}?claim={claim}")

    assert stolen.status_code == 400
    assert "Set-Cookie" not in stolen.headers
    assert next_page(browser.get(f"/oidc/authorize/{interaction}"), acme).name == "sign-in"


def test_attack_AV35_one_that_has_expired_cannot_be_claimed(acme):
    client, browser = acme.application(), acme.browser()
    place = post(client).headers["Location"]
    with acme.active():
        AuthorizationRequest.objects.update(expires_at=AuthorizationRequest.objects.get().created_at)

    assert browser.get(place).status_code == 400


def test_is_unknown_in_another_tenant(acme, rival):
    place = post(acme.application()).headers["Location"]

    answer = rival.browser().get(f"/oidc/authorize/{place.rpartition('/')[2]}")

    assert answer.status_code == 400


def test_counts_to_the_twenty_requests_of_a_browser(acme):
    client, browser = acme.application(), acme.browser()
    for _ in range(20):
        browser.authorize(client)

    follow(post(client), browser)

    assert parked(acme) == 20


def test_without_a_page_is_refused_and_sets_no_cookie(acme):
    client = acme.application()

    answer = post(client, prompt="none")

    assert find_refusal(answer, client) == Refusal("login_required", LONG)
    assert "Set-Cookie" not in answer.headers
    assert parked(acme) == 0


def test_is_validated_before_it_is_stored(acme):
    client = acme.application()

    refused = post(client, scope="profile")
    unknown = post(client, client_id="nonesuch")

    assert find_refusal(refused, client) == Refusal("invalid_scope", LONG)
    assert find_error_page(unknown) == ErrorPage()
    assert parked(acme) == 0


def test_of_the_same_site_has_its_cookies_and_is_stored_for_its_browser(acme):
    """Another host of the domain: browsers send SameSite=Lax cookies with its forms."""
    client, browser = acme.application(), acme.browser()
    browser.authorize(client)

    answer = browser.post(
        "/oidc/authorize", data=client.request(state=LONG), headers={"Sec-Fetch-Site": "same-site"}
    )

    assert next_page(answer, acme).name == "sign-in"
    assert "Set-Cookie" not in answer.headers
