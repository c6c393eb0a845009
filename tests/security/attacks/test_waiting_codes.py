"""A code that waits gets what was proven when it was issued, and ends when grants end (AV25)."""

import time

import pytest

from identity.factors import forgetting
from identity.factors import services as factor_services
from identity.users import assigned_passwords, sign_out
from oidc.grants.models import AuthorizationCode, RefreshFamily
from tests.support.account import NEW, is_signed_in, send
from tests.support.cast import PASSWORD
from tests.support.factors import enrol, has_session, switch_on
from tests.support.independent import claims_of
from tests.support.required_factors import TWO, Setting, refused, remembered_browser, that_remembers

CONFIRM = "/api/my-account/confirm"
ONE = "urn:service:acr:1fa"
COLUMNS = ("epoch", "auth_time", "amr", "level", "remembered")


def step_up(browser, app):
    answer = browser.post(CONFIRM, json={"type": "Totp", "code": app.code()})
    assert answer.status_code == 200, answer.text


def families(world):
    with world.active():
        return list(RefreshFamily.objects.all())


def own_password(world, user, browser):
    assert send(browser, "password", password=PASSWORD, new_password=NEW).status_code == 303
    assert is_signed_in(browser)


def password_by_an_administrator(world, user, browser):
    assigned_passwords.set_password(user, NEW, is_proven=True)
    assert has_session(browser.sign_in(user, NEW))


def sign_out_everywhere(world, user, browser):
    sign_out.sign_out(user)
    assert has_session(browser.sign_in(user))


def reset_of_factors(world, user, browser):
    factor_services.reset(user)
    assert has_session(browser.sign_in(user))


ENDS = [own_password, password_by_an_administrator, sign_out_everywhere, reset_of_factors]


class TestWhatEndsTheGrants:
    @pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
    @pytest.mark.parametrize("scope", ["openid offline_access", "openid"])
    def test_attack_AV25_ends_a_code_that_waits(self, acme, end, scope):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        code = browser.code_for(client, user, scope=scope)

        with acme.active():
            end(acme, user, browser)
        answer = client.redeem(code)

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
        assert families(acme) == []
        assert client.tokens_for(user, browser, scope=scope)["access_token"]

    def test_attack_AV25_a_code_of_the_previous_release_counts_as_its_session(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        code = browser.code_for(client, user)
        with acme.active():
            AuthorizationCode.objects.update(**dict.fromkeys(COLUMNS))

        answer = client.redeem(code)

        assert answer.status_code == 200, answer.text
        assert claims_of(answer.json()["id_token"])["amr"] == ["pwd"]
        assert client.refresh(answer.json()["refresh_token"]).status_code == 200


class TestWhatWasProven:
    def test_attack_AV25_a_later_sign_in_is_not_that_of_the_code(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        first = claims_of(client.tokens_for(user, browser)["id_token"])
        code = browser.code_for(client, user)
        time.sleep(1.1)

        assert has_session(browser.sign_in(user))
        tokens = client.redeem(code).json()
        refreshed = client.refresh(tokens["refresh_token"]).json()

        assert claims_of(tokens["id_token"])["sid"] == first["sid"]
        assert claims_of(tokens["id_token"])["auth_time"] == first["auth_time"]
        assert claims_of(refreshed["id_token"])["auth_time"] == first["auth_time"]

    def test_attack_AV25_nor_is_a_factor_that_is_proven_later(self, acme):
        switch_on(acme, "Totp")
        client, user, browser = acme.application(), acme.user(), acme.browser()
        app = enrol(acme, user, two_step=False)
        code = browser.code_for(client, user)

        step_up(browser, app)
        tokens = client.redeem(code).json()
        refreshed = client.refresh(tokens["refresh_token"]).json()

        for answer in (tokens, refreshed):
            claims = claims_of(answer["id_token"])
            assert (claims["acr"], claims["amr"]) == (ONE, ["pwd"])
        assert [family.level for family in families(acme)] == [1]
        assert claims_of(client.tokens_for(user, browser, acr_values=TWO)["id_token"])["acr"] == TWO

    @pytest.mark.parametrize("target", ["organization", "API", "application"])
    def test_attack_AV25_so_the_code_is_refused_where_two_factors_are_required(self, acme, target):
        setting = Setting(acme)
        user, browser = setting.user, acme.browser()
        app = enrol(acme, user, two_step=False)
        asked = {"scope": "openid offline_access"}
        if target == "organization":
            asked["organization_id"] = setting.organization
        code = browser.code_for(setting.client, user, **asked)
        sent = {}
        if target == "organization":
            setting.require()
        elif target == "API":
            setting.require_acr(TWO)
            sent["resource"] = "https://payroll.example"
        else:
            metadata = {"required_acr": TWO}
            answer = setting.admin.patch(
                f"/applications/{setting.client.application.pk}", oidc_client_metadata=metadata
            )
            assert answer.status_code == 200, answer.text

        step_up(browser, app)

        assert refused(setting.client.redeem(code, **sent), target)


class TestARememberedBrowser:
    @pytest.fixture
    def setting(self, acme):
        return that_remembers(acme)

    @pytest.fixture
    def app(self, setting):
        return enrol(setting.world, setting.user)

    @pytest.fixture
    def browser(self, setting, app):
        """A remembered browser, in which the user signed in again without the second factor."""
        return remembered_browser(setting, app)

    def redeem(self, setting, code):
        answer = setting.client.redeem(code)
        assert answer.status_code == 200, answer.text
        return answer.json()["refresh_token"]

    def test_attack_AV25_is_that_of_the_code_although_a_factor_is_proven_later(self, setting, app, browser):
        code = browser.code_for(setting.client, setting.user)

        step_up(browser, app)
        token = self.redeem(setting, code)

        [family] = families(setting.world)
        assert (family.remembered, family.level) == (True, 1)
        answer = setting.refresh(token, organization_id=setting.organization)
        assert answer.status_code == 200, answer.text
        with setting.world.active():
            forgetting.forget_all(setting.user)
        answer = setting.refresh(answer.json()["refresh_token"], organization_id=setting.organization)
        assert refused(answer, "the organization")

    @pytest.mark.parametrize("proven", ["before it is forgotten", "after it is forgotten", "never"])
    def test_attack_AV25_is_forgotten_for_a_code_that_waits(self, setting, app, browser, proven):
        code = browser.code_for(setting.client, setting.user)

        if proven.startswith("before"):
            step_up(browser, app)
        with setting.world.active():
            forgetting.forget_all(setting.user)
        if proven.startswith("after"):
            step_up(browser, app)
        token = self.redeem(setting, code)

        [family] = families(setting.world)
        assert (family.remembered, family.level) == (False, 1)
        assert refused(setting.refresh(token, organization_id=setting.organization), "the organization")
