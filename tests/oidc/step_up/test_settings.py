"""What an application demands by its settings, and what its tenant calls the levels."""

from oidc.applications import services as applications
from oidc.settings import services as oidc_settings
from oidc.settings.models import OidcSettings
from tests.support.cast import query_of
from tests.support.factors import NEXT, SKIP, TOTP
from tests.support.step_up import ONE, PHR, TWO, UNMET, ask, essential, require, resume, told


class TestTheApplication:
    def test_decision_M19_required_acr_is_demanded_of_each_request(self, acme, client, browser, app):
        require(acme, client)
        interaction = ask(browser, client)

        assert browser.post(SKIP, json={"interaction": interaction}).status_code == 403
        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]
        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert found["reasons"] == ["application"]
        assert told(client, resume(browser, answer))["acr"] == TWO

    def test_case_MT17_a_request_cannot_ask_for_less(self, acme, client, browser, app):
        require(acme, client)

        interaction = ask(browser, client, acr_values=ONE, claims=essential(ONE))

        assert browser.post(SKIP, json={"interaction": interaction}).status_code == 403

    def test_decision_M19_what_cannot_be_reached_here_fails_at_once(self, acme, client, browser):
        require(acme, client, PHR)

        response = query_of(browser.authorize(client).headers["Location"])

        assert response["error"] == UNMET

    def test_decision_M19_a_removed_alias_lets_nobody_in(self, acme, client, browser):
        with acme.active():
            oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]}, is_proven=True)
        require(acme, client, "silver")
        ask(browser, client)
        with acme.active():
            OidcSettings.objects.update(acr_aliases=[])  # as an earlier release allowed

        assert query_of(browser.authorize(client).headers["Location"])["error"] == UNMET

    def test_decision_M19_default_acr_values_are_a_wish(self, acme, client, browser, app):
        with acme.active():
            applications.change(client.application, {"default_acr_values": [TWO]}, is_proven=True)

        interaction = ask(browser, client)

        answer = browser.post(SKIP, json={"interaction": interaction})
        assert told(client, resume(browser, answer))["acr"] == ONE

    def test_decision_M19_acr_values_replace_the_default_ones(self, acme, client, browser, app):
        with acme.active():
            applications.change(client.application, {"default_acr_values": [TWO]}, is_proven=True)

        assert "code=" in browser.authorize(client, acr_values=ONE).headers["Location"]

    def test_decision_M4_an_alias_is_told_as_it_is_spelled(self, acme, client, browser, app):
        with acme.active():
            oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]}, is_proven=True)
        interaction = ask(browser, client, acr_values=f"{PHR} silver {TWO}")

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert told(client, resume(browser, answer))["acr"] == "silver"
