"""Who may end the lock that bounds the guesses of a user's second factor (AP28)."""

import pytest

from tests.support import management
from tests.support.admin_pages import operate
from tests.support.cast import PASSWORD
from tests.support.factors import TOTP, enrol, half, has_session, switch_on
from tests.support.management import result_of
from tests.support.operators import administrator, at, text_of


@pytest.fixture
def user(acme):
    switch_on(acme)
    return acme.user()


@pytest.fixture
def app(acme, user):
    return enrol(acme, user)


@pytest.fixture
def guessing(acme, user, app):
    """Return the browser of a person who knows the password, and has guessed ten codes."""
    for _ in range(2):
        browser = acme.browser()
        half(browser, user)
        for _ in range(5):
            assert browser.post(TOTP, json={"code": "000000"}).status_code == 401
    browser = acme.browser()
    half(browser, user)
    return browser


def unlock_by_api(world, user, role):
    who = administrator(role=role, tenants=[world.tenant.slug])
    caller = management.Caller(world, management.administrator_token(who.username, PASSWORD, world.address))
    result_of(caller.delete(f"/users/{user.pk}/locks"))


def unlock_on_the_site(world, user, role):
    operator = at(world, administrator(role=role, tenants=[world.tenant.slug]))
    answer = operate(operator, "users/user", user, "unlock")
    page = text_of(operator.get(answer.headers["Location"]))
    assert ("A lock of second factors stays." in page) == (role == "support")


@pytest.mark.parametrize("unlock", [unlock_by_api, unlock_on_the_site])
def test_attack_AP28_support_unlocks_and_goes_on_guessing(acme, user, app, guessing, unlock):
    unlock(acme, user, "support")
    by_support = guessing.post(TOTP, json={"code": app.code()})
    unlock(acme, user, "administrator")
    by_administrator = guessing.post(TOTP, json={"code": app.code()})

    assert by_support.status_code == 401
    assert int(by_support.headers["Retry-After"]) <= 60
    assert has_session(by_administrator)
