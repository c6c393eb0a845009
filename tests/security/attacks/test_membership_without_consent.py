"""A third party that the user has not agreed to learns nothing about the user's organizations."""

import pytest

from tests.support import codes
from tests.support.cast import query_of
from tests.support.factors import enrol
from tests.support.required_factors import Setting
from tests.support.step_up import CANCEL, UNMET
from tests.support.third_parties import consent_page, press


@pytest.fixture
def setting(acme):
    """An organization that requires two factors, where codes by email are the only further factor."""
    found = Setting(codes.reachable(acme), factors=["EmailVerificationCode"])
    found.require()
    found.client = acme.application(is_third_party=True)
    return found


def ask(setting, browser):
    location = browser.authorize(setting.client, organization_id=setting.organization).headers["Location"]
    return query_of(location)["interaction"]


def signed_in_for_it(setting, user):
    """Sign in for a request that names the organization; return the browser and where it goes next."""
    browser = setting.world.browser()
    answer = browser.sign_in(user, interaction=ask(setting, browser))
    return browser, browser.get(answer.json()["result"]["redirect_to"]).headers["Location"]


def cancelled(browser, interaction):
    answer = browser.post(CANCEL, json={"interaction": interaction})
    assert answer.status_code == 200, answer.text
    return query_of(browser.get(answer.json()["result"]["redirect_to"]).headers["Location"])


def test_attack_a_member_who_cannot_have_two_factors_is_asked_as_any_other_user(setting):
    member, stranger = setting.user, setting.world.user()

    places = [signed_in_for_it(setting, user)[1] for user in (member, stranger)]

    assert ["/consent?" in place for place in places] == [True, True], places


def test_attack_a_member_who_refuses_gives_the_answer_of_any_other_user(setting):
    member, stranger = setting.user, setting.world.user()

    answers = []
    for user in (member, stranger):
        browser, place = signed_in_for_it(setting, user)
        answers.append(press(browser, browser.get(place), "deny"))

    assert [answer["error"] for answer in answers] == ["access_denied"] * 2
    assert answers[0]["error_description"] == answers[1]["error_description"]


def test_decision_M39_a_member_who_agrees_is_answered_with_what_is_missing(setting):
    browser, place = signed_in_for_it(setting, setting.user)

    assert press(browser, browser.get(place))["error"] == UNMET


@pytest.mark.parametrize("is_signed_in", [True, False])
def test_attack_a_member_who_cancels_the_second_factor_gives_the_answer_of_who_refuses(acme, is_signed_in):
    setting = Setting(acme)
    setting.client = acme.application(is_third_party=True)
    setting.require()
    enrol(acme, setting.user, two_step=False)
    browser, stranger = acme.browser(), acme.browser()
    if is_signed_in:
        browser.sign_in(setting.user)
    interaction = ask(setting, browser)
    if not is_signed_in:
        browser.sign_in(setting.user, interaction=interaction)
    stranger.sign_in(acme.user())

    told = cancelled(browser, interaction)
    denied = press(
        stranger, consent_page(stranger, setting.client, organization_id=setting.organization), "deny"
    )

    assert (told["error"], told["error_description"]) == (denied["error"], denied["error_description"])
    assert told["error"] == "access_denied"


def test_decision_M39_after_consent_cancelling_names_what_is_missing(acme):
    setting = Setting(acme)
    setting.client = acme.application(is_third_party=True)
    browser = acme.browser()
    browser.sign_in(setting.user)
    page = consent_page(browser, setting.client, organization_id=setting.organization)
    assert "code" in press(browser, page)
    enrol(acme, setting.user, two_step=False)
    setting.require()

    assert cancelled(browser, ask(setting, browser))["error"] == UNMET
