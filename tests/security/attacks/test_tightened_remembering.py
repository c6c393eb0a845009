"""AV27: a remembered browser went on to satisfy an organization after the tenant had tightened its policy."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from identity.factors.models import KnownBrowser
from interaction.experience import services as experiences
from tests.support.cast import query_of
from tests.support.factors import NEXT, TOTP, enrol, half, has_session
from tests.support.management import result_of
from tests.support.required_factors import (
    Setting,
    keep_only_the_memory,
    refused,
    remembered_browser,
    that_remembers,
)


def trust(**policy: Any) -> None:
    experiences.change({"trusted_device_policy": policy}, is_proven=True)


def switch_off() -> None:
    trust(enabled=False)


def switch_off_and_on() -> None:
    trust(enabled=False)
    trust(enabled=True)


def allow_fewer_days() -> None:
    """The browser was remembered ten days ago."""
    earlier = timezone.now() - timedelta(days=10)
    KnownBrowser.objects.exclude(remembered_at=None).update(remembered_at=earlier)
    trust(duration_days=7)


def remove_a_factor() -> None:
    """The browser may have been remembered because of a code by email."""
    experiences.change({"mfa": {"factors": ["Totp"]}}, is_proven=True)


TIGHTENED = [switch_off, switch_off_and_on, allow_fewer_days, remove_a_factor]
tightened = pytest.mark.parametrize("tighten", TIGHTENED, ids=lambda tighten: tighten.__name__)
Tighten = Callable[[], None]


@pytest.fixture
def setting(acme):
    """An organization that requires two factors, in a tenant in which browsers can be remembered."""
    return that_remembers(acme, factors=("Totp", "EmailVerificationCode"))


@pytest.fixture
def app(setting):
    return enrol(setting.world, setting.user)


@pytest.fixture
def browser(setting, app):
    """A remembered browser, in which the user signed in again without the second factor."""
    return remembered_browser(setting, app)


def is_satisfied(setting: Setting, tokens: dict[str, Any]) -> bool:
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    context = result_of(setting.world.get("/api/session/context", headers=headers))
    [organization] = context["organizations"]
    return bool(organization["is_mfa_satisfied"])


@tightened
def test_attack_AV27_its_refresh_tokens_get_no_token_of_the_organization(setting, browser, tighten):
    tokens = setting.client.tokens_for(setting.user, browser)
    with setting.world.active():
        tighten()

    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)
    without = setting.refresh(tokens["refresh_token"])

    assert refused(answer, "the organization")
    assert without.status_code == 200, without.text


@tightened
def test_attack_AV27_nor_does_a_code_that_waits(setting, browser, tighten):
    code = browser.code_for(setting.client, setting.user, organization_id=setting.organization)
    with setting.world.active():
        tighten()

    assert refused(setting.client.redeem(code), "the organization")


@tightened
def test_attack_AV27_its_session_is_asked_for_the_factor(setting, app, browser, tighten):
    with setting.world.active():
        tighten()

    place = browser.authorize(setting.client, organization_id=setting.organization).headers["Location"]
    interaction = query_of(place)["interaction"]
    step = result_of(browser.get(f"{NEXT}?interaction={interaction}"))

    assert "/sign-in/second-factor" in place
    assert (step["step"], step["reasons"]) == ("second_factor", ["organization"])
    assert has_session(browser.post(TOTP, json={"code": app.code(), "interaction": interaction}))


@tightened
@pytest.mark.parametrize("scope", ["openid", "openid offline_access"])
def test_attack_AV27_the_session_context_says_so(setting, browser, tighten, scope):
    tokens = setting.client.tokens_for(setting.user, browser, scope=scope)
    before = is_satisfied(setting, tokens)
    with setting.world.active():
        tighten()

    assert (before, is_satisfied(setting, tokens)) == (True, False)


@tightened
def test_attack_AV27_the_next_sign_in_is_asked(setting, browser, tighten):
    keep_only_the_memory(browser)
    with setting.world.active():
        tighten()

    assert not has_session(browser.sign_in(setting.user))


def test_attack_AV27_a_sign_in_that_waits_remembers_nothing_once_the_policy_is_off(setting, app):
    browser = setting.world.browser()
    half(browser, setting.user)
    with setting.world.active():
        switch_off()
    assert has_session(browser.post(TOTP, json={"code": app.code(), "remember": True}))
    with setting.world.active():
        trust(enabled=True)

    keep_only_the_memory(browser)
    assert not has_session(browser.sign_in(setting.user))


def test_attack_AV27_another_browser_that_is_remembered_later_does_not_revive_it(setting, app, browser):
    tokens = setting.client.tokens_for(setting.user, browser)
    with setting.world.active():
        switch_off_and_on()
    other = remembered_browser(setting, app)

    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)
    of_other = setting.client.tokens_for(setting.user, other, organization_id=setting.organization)

    assert refused(answer, "the organization")
    assert is_satisfied(setting, of_other)


def loosen() -> None:
    trust(duration_days=60)


def add_a_factor() -> None:
    experiences.change({"mfa": {"factors": ["Totp", "EmailVerificationCode", "WebAuthn"]}}, is_proven=True)


def require_of_all() -> None:
    """Users who are remembered have proven two factors."""
    experiences.change({"mfa": {"policy": "Mandatory"}}, is_proven=True)


@pytest.mark.parametrize("change", [loosen, add_a_factor, require_of_all], ids=lambda each: each.__name__)
def test_decision_M35_other_changes_of_the_policy_end_nothing(setting, browser, change):
    tokens = setting.client.tokens_for(setting.user, browser)
    with setting.world.active():
        change()

    answer = setting.refresh(tokens["refresh_token"], organization_id=setting.organization)

    assert answer.status_code == 200, answer.text
