"""What tokens say of the strength of a sign-in, where there are second factors and where there are none."""

import time

import pytest

from identity.sessions import services as sessions
from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experiences
from oidc.provider import acr
from oidc.settings import services as oidc_settings
from tests.support import factors
from tests.support.cast import query_of
from tests.support.factors import TOTP, enrol, half, switch_on
from tests.support.forms import form
from tests.support.independent import claims_of, key_set, verified

ONE, TWO = "urn:service:acr:1fa", "urn:service:acr:2fa"
ABOUT_THE_SIGN_IN = {"acr", "amr", "auth_time"}
DISCOVERY = "/.well-known/openid-configuration"


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def user(acme):
    return acme.user()


def tokens(browser, client, **parameters):
    """Get tokens for a browser that is signed in."""
    answer = browser.authorize(client, **parameters)
    return client.redeem(query_of(answer.headers["Location"])["code"]).json()


def with_both_factors(acme, user):
    return factors.signed_in(acme, user, enrol(acme, user))


class TestWithFactors:
    def test_decision_M4_one_factor_is_1fa(self, acme, client, user):
        switch_on(acme)

        issued = client.tokens_for(user)

        claims = verified(issued["id_token"], key_set(acme))
        assert (claims["acr"], claims["amr"]) == (ONE, ["pwd"])

    def test_decision_M5_two_factors_are_2fa(self, acme, client, user):
        switch_on(acme)
        browser = with_both_factors(acme, user)

        issued = tokens(browser, client)

        claims = claims_of(issued["id_token"])
        assert (claims["acr"], claims["amr"]) == (TWO, ["pwd", "otp", "mfa"])

    def test_decision_M41_access_tokens_say_it_too(self, acme, client, user):
        switch_on(acme)
        browser = with_both_factors(acme, user)

        claims = verified(tokens(browser, client)["access_token"], key_set(acme))

        assert (claims["acr"], claims["amr"]) == (TWO, ["pwd", "otp", "mfa"])
        assert abs(claims["auth_time"] - time.time()) < 60

    def test_decision_M6_a_refresh_keeps_them(self, acme, client, user):
        switch_on(acme)
        browser = with_both_factors(acme, user)
        issued = tokens(browser, client, scope="openid offline_access")
        first = claims_of(issued["id_token"])

        refreshed = client.refresh(issued["refresh_token"]).json()

        for token in ("id_token", "access_token"):
            later = claims_of(refreshed[token])
            assert {name: later[name] for name in ABOUT_THE_SIGN_IN} == {
                name: first[name] for name in ABOUT_THE_SIGN_IN
            }

    def test_decision_M6_a_step_up_does_not_move_auth_time(self, acme, client, user):
        switch_on(acme, "Totp")
        app = enrol(acme, user, two_step=False)
        browser = acme.browser()
        browser.sign_in(user)
        before = claims_of(tokens(browser, client)["id_token"])
        time.sleep(1.1)

        browser.post(
            "/confirm", data=form(browser.get("/confirm?back=account")).fields | {"code": app.code()}
        )

        after = claims_of(tokens(browser, client)["id_token"])
        assert (before["acr"], after["acr"]) == (ONE, TWO)
        assert after["auth_time"] == before["auth_time"]
        assert after["sid"] == before["sid"]

    @pytest.mark.parametrize(
        ("asked", "told"),
        [
            (TWO, TWO),
            (ONE, ONE),
            (f"{ONE} {TWO}", ONE),
            (f"phr {TWO} {ONE}", TWO),
            ("phr", TWO),
            ("https://refeds.org/profile/mfa", "https://refeds.org/profile/mfa"),
            ("nobody-knows-it", TWO),
        ],
    )
    def test_decision_M38_the_first_value_that_is_met_is_told_as_it_was_asked(
        self, acme, client, user, asked, told
    ):
        switch_on(acme)
        with acme.active():
            oidc_settings.change(
                {"acr_aliases": [{"value": "https://refeds.org/profile/mfa", "level": TWO}]}, is_proven=True
            )
        browser = with_both_factors(acme, user)

        claims = claims_of(tokens(browser, client, acr_values=asked)["id_token"])

        assert claims["acr"] == told

    def test_case_MT17_one_factor_is_never_told_as_two(self, acme, client, user):
        switch_on(acme)
        browser = acme.browser()
        browser.sign_in(user)
        place = browser.authorize(client, acr_values=f"phr {TWO}").headers["Location"]
        skipped = browser.post(factors.SKIP, json={"interaction": query_of(place)["interaction"]}).json()

        answer = browser.get(skipped["result"]["redirect_to"])

        code = query_of(answer.headers["Location"])["code"]
        claims = claims_of(client.redeem(code).json()["id_token"])

        assert claims["acr"] == ONE

    def test_the_claims_parameter_asks_for_it_too(self, acme, client, user):
        switch_on(acme)
        browser = with_both_factors(acme, user)
        asked = '{"id_token": {"acr": {"values": ["urn:service:acr:1fa"]}}}'

        assert claims_of(tokens(browser, client, claims=asked)["id_token"])["acr"] == ONE

    def test_discovery_lists_the_values_that_can_be_reached(self, acme):
        switch_on(acme, "Totp")
        with acme.active():
            oidc_settings.change(
                {"acr_aliases": [{"value": "silver", "level": TWO}, {"value": "gold", "level": "phr"}]},
                is_proven=True,
            )

        document = acme.get(DISCOVERY).json()

        assert document["acr_values_supported"] == [ONE, TWO, "silver"]
        assert document["claims_supported"].count("acr") == 1


class TestWithoutFactors:
    def test_no_token_says_anything_new(self, acme, client, user):
        enrol(acme, user)

        issued = tokens_of(acme, client, user, acr_values=TWO)

        assert "acr" not in claims_of(issued["id_token"])
        assert not ABOUT_THE_SIGN_IN & claims_of(issued["access_token"]).keys()

    def test_discovery_is_as_it_was(self, acme):
        document = acme.get(DISCOVERY).json()

        assert "acr_values_supported" not in document
        assert "acr" not in document["claims_supported"]

    def test_switching_all_factors_off_takes_it_away(self, acme, client, user):
        switch_on(acme)
        with acme.active():
            experiences.change({"mfa": {"factors": []}}, is_proven=True)

        assert "acr" not in claims_of(client.tokens_for(user)["id_token"])
        assert "acr_values_supported" not in acme.get(DISCOVERY).json()

    def test_another_tenant_has_none_either(self, acme, rival):
        switch_on(acme)
        client, user = rival.application(), rival.user()

        assert "acr" not in claims_of(client.tokens_for(user)["id_token"])


def tokens_of(acme, client, user, **parameters):
    browser = acme.browser()
    browser.sign_in(user)
    return tokens(browser, client, **parameters)


def test_a_half_sign_in_gets_no_code(acme, client, user):
    app = enrol(switch_on(acme), user)
    browser = acme.browser()
    half(browser, user)

    before = browser.authorize(client)
    browser.post(TOTP, json={"code": app.code()})
    after = browser.authorize(client)

    assert "code=" not in before.headers["Location"]
    assert "code=" in after.headers["Location"]
    with acme.active():
        assert User.objects.get(pk=user.pk).login_count == 1


def test_a_session_without_the_level_of_its_tenant_has_no_value(acme, user):
    switch_on(acme)
    with acme.active():
        sessions.start(user, amr=["pwd"])
        session = Session.objects.get()

        with pytest.raises(AttributeError, match="highest_level"):
            acr.get_value(session, [])
