"""What ends when the remembered browsers of a user are forgotten: what they were granted with one factor."""

from datetime import timedelta

import pytest
from django.utils import timezone

from identity.factors import browsers, forgetting, recovery, services
from identity.factors.models import KnownBrowser
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from oidc.grants.models import RefreshFamily
from tests.support.factors import (
    SET_UP,
    SET_UP_VERIFY,
    TOTP,
    App,
    enrol,
    half,
    has_session,
)

RECOVER = "/api/interaction/mfa/recovery-code"


@pytest.fixture
def app(acme, app):
    """The authenticator of the user, in a tenant in which browsers can be remembered."""
    with acme.active():
        experiences.change({"trusted_device_policy": {"enabled": True, "duration_days": 30}}, is_proven=True)
    return app


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
    (known,) = browsers.get_remembered(user, experiences.current().trusted_devices)
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


@pytest.mark.parametrize("end", [forget_all, remove_a_factor], ids=lambda end: end.__name__)
def test_decision_M35_also_of_a_browser_beyond_the_limit(acme, user, app, end):
    grant(acme, user, app)
    with acme.active():
        (oldest,) = KnownBrowser.objects.exclude(remembered_until=None)
        seen = {"first_seen_at": timezone.now(), "last_seen_at": timezone.now() + timedelta(hours=1)}
        KnownBrowser.objects.bulk_create(
            KnownBrowser(user=user, token_hash=f"{number:064}", **seen) for number in range(browsers.MOST)
        )
    half(browser := acme.browser(), user)
    assert has_session(browser.post(TOTP, json={"code": app.code()}))
    with acme.active():
        assert KnownBrowser.objects.filter(user=user).count() == browsers.MOST
        assert not KnownBrowser.objects.filter(pk=oldest.pk).exists()
        end(acme, User.objects.get(pk=user.pk), app)

    assert counts(acme, user) == (0, 0)


def test_decision_M35_also_if_no_browser_is_known_any_more(acme, user, app):
    grant(acme, user, app)
    with acme.active():
        KnownBrowser.objects.filter(user=user).delete()
        forget_all(acme, user, app)

    assert counts(acme, user) == (0, 0)
