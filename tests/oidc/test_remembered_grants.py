"""What applications have of a remembered browser, and what is left of it once the browser is forgotten."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from identity.factors import browsers, forgetting, services
from identity.factors.models import KnownBrowser
from identity.users.models import User
from interaction.experience import services as experiences
from oidc.grants.models import RefreshFamily
from tests.support.cast import query_of
from tests.support.factors import TOTP, enrol, has_session
from tests.support.required_factors import (
    TWO,
    keep_only_the_memory,
    refused,
    remembered_browser,
    that_remembers,
)


@pytest.fixture
def setting(acme):
    """An organization that requires two factors, in a tenant in which browsers can be remembered."""
    return that_remembers(acme)


@pytest.fixture
def app(setting):
    return enrol(setting.world, setting.user)


@pytest.fixture
def browser(setting, app):
    """A remembered browser, in which the user signed in again without the second factor."""
    return remembered_browser(setting, app)


@pytest.fixture
def tokens(setting, browser):
    return setting.client.tokens_for(setting.user, browser)


def forget_one(setting):
    [remembered] = browsers.get_remembered(setting.user, experiences.current().trusted_devices)
    forgetting.forget(setting.user, str(remembered.pk))


def forget_all(setting):
    forgetting.forget_all(setting.user)


def remove_another_factor(setting):
    enrol(setting.world, setting.user)
    services.remove(setting.user, services.get_factors(setting.user)[-1].id)


def expire(setting):
    KnownBrowser.objects.update(remembered_until=timezone.now())


def allow_fewer_days(setting):
    """The browser was remembered ten days ago."""
    earlier = timezone.now() - timedelta(days=10)
    KnownBrowser.objects.update(remembered_at=earlier, remembered_since=earlier)
    experiences.change({"trusted_device_policy": {"duration_days": 7}}, is_proven=True)


def switch_off_and_on(setting):
    experiences.change({"trusted_device_policy": {"enabled": False}}, is_proven=True)
    experiences.change({"trusted_device_policy": {"enabled": True}}, is_proven=True)


def change_the_epoch(setting):
    """As a new password does. The refresh token is made to survive it."""
    for model in (User, RefreshFamily):
        model.objects.update(epoch=F("epoch") + 1)


ENDS = [forget_one, forget_all, remove_another_factor]


def test_decision_M35_a_remembered_browser_gets_tokens_of_the_organization(setting, tokens):
    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_decision_M35_its_refresh_tokens_get_none_once_it_is_forgotten(setting, tokens, end):
    with setting.world.active():
        end(setting)

    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)
    without = setting.refresh(tokens["refresh_token"])

    assert refused(answer, "the organization")
    assert without.status_code == 200, without.text


def test_decision_M35_its_session_is_asked_for_the_factor_once_it_is_forgotten(setting, app, browser):
    with setting.world.active():
        forget_all(setting)

    page = browser.authorize(setting.client, organization_id=setting.organization)
    assert "/sign-in/second-factor" in page.headers["Location"]
    assert has_session(browser.post(TOTP, json={"code": app.code()}))


def test_decision_M35_browsers_of_others_stay_remembered(setting, tokens):
    with setting.world.active():
        forgetting.forget_all(setting.world.user())

    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

    assert answer.status_code == 200, answer.text


class TestRememberingAgain:
    """The user ticks *Don't ask here again* in a browser that was remembered before."""

    @staticmethod
    def remember_again(setting, app, browser):
        keep_only_the_memory(browser)
        place = browser.authorize(setting.client, acr_values=TWO).headers["Location"]
        interaction = query_of(place)["interaction"]
        assert not has_session(browser.sign_in(setting.user, interaction=interaction))
        entered = {"code": app.code(), "remember": True, "interaction": interaction}
        assert has_session(browser.post(TOTP, json=entered))

    def test_decision_M35_what_began_while_it_was_remembered_goes_on(self, setting, app, browser, tokens):
        self.remember_again(setting, app, browser)

        answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

        assert answer.status_code == 200, answer.text

    def test_decision_M35_so_does_what_began_in_a_browser_that_0_5_0_remembered(
        self, setting, app, browser, tokens
    ):
        with setting.world.active():
            assert KnownBrowser.objects.update(remembered_since=None) == 1
        self.remember_again(setting, app, browser)

        answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

        assert answer.status_code == 200, answer.text

    @pytest.mark.parametrize(
        "end", [expire, allow_fewer_days, switch_off_and_on, change_the_epoch], ids=lambda end: end.__name__
    )
    def test_decision_M35_what_began_before_a_gap_does_not(self, setting, app, browser, tokens, end):
        with setting.world.active():
            end(setting)
        self.remember_again(setting, app, browser)

        answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

        assert refused(answer, "the organization")

    def test_decision_M35_nor_does_it_after_a_gap_that_0_5_0_did_not_store(
        self, setting, app, browser, tokens
    ):
        with setting.world.active():
            [since] = KnownBrowser.objects.values_list("remembered_since", flat=True)
            switch_off_and_on(setting)
        self.remember_again(setting, app, browser)
        with setting.world.active():
            KnownBrowser.objects.update(remembered_since=since)

        answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

        assert refused(answer, "the organization")
