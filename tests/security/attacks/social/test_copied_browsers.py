"""Cookies that were copied from a browser before its user returned from another provider."""

import pytest

from identity.users.models import User
from tests.support import codes, factors, social
from tests.support.factors import NEXT, TOTP
from tests.support.forms import form
from tests.support.social import connect, is_in
from tests.support.social_pages import ADA, EXPIRED, Refusal, find_refusal
from tests.support.terms import ask


@pytest.fixture
def way_back(acme, provider):
    """A browser that is on its way back from the provider, and the answer of the provider for a person."""
    connect(acme, provider.config)

    def way_back(**person):
        browser = acme.browser()
        return browser, provider.approve(social.away(browser), **person)

    return way_back


def copied(browser):
    copy = browser.world.browser()
    copy.http.cookies.update(browser.http.cookies)
    return copy


def test_attack_AV30_a_copy_does_not_agree_for_a_new_user(acme, way_back):
    ask(acme)
    browser, answer = way_back(**ADA)
    copy = copied(browser)
    place = social.back(browser, answer).headers["Location"]
    page = browser.get(place)

    assert find_refusal(copy.get(place), EXPIRED) == Refusal(400)
    for item in browser.http.cookies.jar:
        if "csrf" in item.name:
            copy.http.cookies.jar.set_cookie(item)
    assert find_refusal(form(page).submit(copy, agreed_to_terms="on"), EXPIRED) == Refusal(400)

    with acme.active():
        assert not User.objects.exists()
    assert form(page).submit(browser, agreed_to_terms="on").status_code == 303
    assert is_in(browser)
    assert not is_in(copy)


def test_attack_AV30_a_copy_does_not_prove_the_second_factor(acme, way_back):
    factors.switch_on(acme)
    social.allow(acme, automatic_account_linking=True)
    email = codes.new_email()
    app = factors.enrol(acme, social.with_proven_email(acme, email))
    browser, answer = way_back(sub="somebody", email=email, email_verified=True, name="Ada")
    copy = copied(browser)
    assert social.back(browser, answer).headers["Location"].endswith("/sign-in/second-factor")

    assert copy.get(NEXT).json()["result"] == {"step": "sign_in"}
    assert copy.post(TOTP, json={"code": app.code()}).status_code == 404
    assert factors.has_session(browser.post(TOTP, json={"code": app.code()}))
