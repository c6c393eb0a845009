"""Fixtures for the tests of the account pages."""

import pytest

from tests.support.factors import switch_on


@pytest.fixture
def user(acme):
    """A user without a second factor."""
    return acme.user()


@pytest.fixture
def browser(acme, user):
    """The browser in which this user has just signed in. The tenant has authenticators and backup codes."""
    switch_on(acme, "Totp", "BackupCode")
    browser = acme.browser()
    browser.sign_in(user)
    return browser
