"""What ends when the remembered browsers of a user are forgotten: what they were granted with one factor."""

import pytest

from identity.factors import browsers, forgetting, recovery, services
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experience
from oidc.grants.models import RefreshFamily
from tests.support.factors import (
    SET_UP,
    SET_UP_VERIFY,
    TOTP,
    App,
    enrol,
    half,
    has_session,
    switch_on,
)

RECOVER = "/api/interaction/mfa/recovery-code"


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def app(acme, user):
    switch_on(acme)
    with acme.active():
        experience.change({"trusted_device_policy": {"enabled": True, "duration_days": 30}})
    return enrol(acme, user)


def grant(world, user, app):
    """Sign in again in a remembered browser, and get a refresh token there."""
    browser = world.browser()
    half(browser, user)
    assert has_session(browser.post(TOTP, json={"code": app.code(), "remember": True}))
    cookie = next(item for item in browser.http.cookies.jar if "gatehouse-known" in item.name)
    again = world.browser()
    again.http.cookies.set(cookie.name, cookie.value)
    world.application().tokens_for(user, again)
    assert counts(world, user) == (1, 1)


def counts(world, user):
    """The live sessions and the families of a user that count as those of a remembered browser."""
    with world.active():
        live = Session.objects.live().filter(user=user, remembered=True)
        return live.count(), RefreshFamily.objects.live().filter(user=user, remembered=True).count()


def forget_all(world, user, app):
    forgetting.forget_all(user)


def forget_one(world, user, app):
    (known,) = browsers.get_remembered(user, experience.current().trusted_devices)
    forgetting.forget(user, str(known.pk))


def remove_a_factor(world, user, app):
    services.remove(user, services.get_factors(user)[0].id)


def reset(world, user, app):
    services.reset(user)


def recover(world, user, app):
    """Set up a new factor after a recovery code, which deletes the earlier ones."""
    code, _ = recovery.issue(user)
    browser = world.browser()
    half(browser, user)
    browser.post(RECOVER, json={"code": code})
    offer = browser.post(SET_UP, json={}).json()["result"]
    entered = {"enrolment": offer["enrolment"], "code": App(offer["secret"]).code()}
    assert has_session(browser.post(SET_UP_VERIFY, json=entered))


@pytest.mark.parametrize(
    "end", [forget_all, forget_one, remove_a_factor, reset, recover], ids=lambda end: end.__name__
)
def test_decision_M35_what_remembered_browsers_were_granted_ends(acme, user, app, end):
    other = acme.user()
    grant(acme, user, app)
    grant(acme, other, enrol(acme, other))
    with acme.active():
        end(acme, User.objects.get(pk=user.pk), app)

    assert counts(acme, user) == (0, 0)
    assert counts(acme, other) == (1, 1)
