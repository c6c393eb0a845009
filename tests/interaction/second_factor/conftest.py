"""Users with second factors, their tenants and their browsers."""

import pytest

from tests.support import codes, factors, management, passkeys


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def app(acme, user):
    """The authenticator of the user, in a tenant that has all factors but passkeys."""
    factors.switch_on(acme)
    return factors.enrol(acme, user)


@pytest.fixture
def email():
    return codes.new_email()


@pytest.fixture
def user_with_email(acme, email):
    """Somebody with a verified email, in a tenant that has all factors but passkeys, and can send."""
    codes.reachable(factors.switch_on(acme))
    return acme.user(email=email, email_verified=True)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


@pytest.fixture
def tenant(acme):
    """The tenant of the test, with all factors."""
    return passkeys.switch_on(acme, *factors.ALL, "WebAuthn")


@pytest.fixture
def browser(tenant, user):
    """A browser in which a user without factors signed in a moment ago."""
    opened = tenant.browser()
    assert factors.has_session(opened.sign_in(user))
    return opened
