"""The consent page, opened by its address before the request has come to it."""

import pytest

from oidc.applications import services as applications
from oidc.grants.models import Consent
from tests.support import factors
from tests.support.cast import query_of
from tests.support.forms import form
from tests.support.third_parties import consent_page

TWO = "urn:service:acr:2fa"


@pytest.fixture
def client(acme):
    return acme.application(is_third_party=True)


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def browser(acme, user):
    found = acme.browser()
    found.sign_in(user)
    return found


def consents(world):
    with world.active():
        return Consent.objects.count()


def opened(browser, client, **asked):
    """Send a request that needs another step first; open the consent page by its address."""
    place = browser.authorize(client, **asked).headers["Location"]
    assert "/consent?" not in place
    interaction = query_of(place)["interaction"]
    return interaction, browser.get(f"/consent?interaction={interaction}")


@pytest.mark.parametrize("prompt", ["login consent", "select_account"])
def test_attack_before_the_step_that_the_request_demands(acme, client, browser, prompt):
    interaction, page = opened(browser, client, prompt=prompt)

    assert page.headers["Location"].endswith(f"/oidc/authorize/{interaction}")
    assert consents(acme) == 0


def test_attack_in_a_session_that_is_too_weak_for_the_application(acme, client, browser, user):
    factors.enrol(factors.switch_on(acme), user, two_step=False)
    with acme.active():
        applications.change(client.application, {"required_acr": TWO}, is_proven=True)

    interaction, page = opened(browser, client)

    assert page.headers["Location"].endswith(f"/oidc/authorize/{interaction}")
    assert consents(acme) == 0


@pytest.mark.parametrize("choice", ["allow", "deny"])
def test_attack_sent_when_another_step_has_come_first(acme, client, browser, user, choice):
    """The page was shown; then the application came to require a stronger sign-in."""
    page = consent_page(browser, client)
    factors.enrol(factors.switch_on(acme), user, two_step=False)
    with acme.active():
        applications.change(client.application, {"required_acr": TWO}, is_proven=True)

    answer = form(page).submit(browser, choice=choice)

    assert "/oidc/authorize/" in answer.headers["Location"]
    assert "/sign-in/second-factor?" in browser.get(answer.headers["Location"]).headers["Location"]
    assert consents(acme) == 0
