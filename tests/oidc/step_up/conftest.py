"""A person who signed in with one factor, where the tenant has more."""

import pytest

from tests.support.factors import enrol, has_session, switch_on


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def browser(acme, user):
    """A browser that signed in with one factor, where the tenant has more."""
    switch_on(acme)
    browser = acme.browser()
    assert has_session(browser.sign_in(user))
    return browser


@pytest.fixture
def app(acme, user, browser):
    """An authenticator that the person has, and is not asked for without a reason."""
    return enrol(acme, user, two_step=False)
