"""What applications have of a remembered browser, and what is left of it once the browser is forgotten."""

import pytest

from identity.factors import browsers, forgetting, services
from interaction.experience import services as experience
from tests.support.factors import TOTP, enrol, has_session
from tests.support.required_factors import refused, remembered_browser, that_remembers


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
    [remembered] = browsers.get_remembered(setting.user, experience.current().trusted_devices)
    forgetting.forget(setting.user, str(remembered.pk))


def forget_all(setting):
    forgetting.forget_all(setting.user)


def remove_another_factor(setting):
    enrol(setting.world, setting.user)
    services.remove(setting.user, services.get_factors(setting.user)[-1].id)


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
