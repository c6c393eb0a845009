"""Demands of requests: a wish may be skipped, an essential one is met or ends at the application."""

import pytest

from identity.users.models import User
from interaction.experience import services as experiences
from tests.support import passkeys
from tests.support.cast import query_of
from tests.support.factors import NEXT, SKIP, TOTP, enrol, has_session, switch_on
from tests.support.forms import forms
from tests.support.step_up import CANCEL, ONE, PHR, TWO, UNMET, ask, essential, resume, told


class TestAWish:
    def test_beside_a_weaker_demand_is_asked_too(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO, claims=essential(ONE))

        answer = browser.post(SKIP, json={"interaction": interaction})

        assert told(client, resume(browser, answer))["acr"] == ONE

    def test_decision_M39_of_a_session_may_be_skipped(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)

        answer = browser.post(SKIP, json={"interaction": interaction})

        assert not has_session(answer)
        assert told(client, resume(browser, answer))["acr"] == ONE
        assert ask(browser, client, acr_values=TWO) != interaction

    def test_decision_M39_skipping_it_keeps_the_offer_of_the_tenant(self, acme, client, user, browser):
        interaction = ask(browser, client, acr_values=TWO)

        browser.post(SKIP, json={"interaction": interaction})

        with acme.active():
            assert User.objects.get(pk=user.pk).factor_skipped_at is None

    def test_that_no_factor_of_the_tenant_reaches_is_ignored(self, acme, client, browser, app):
        assert "code=" in browser.authorize(client, acr_values=PHR).headers["Location"]

    def test_that_this_person_cannot_fulfil_is_ignored(self, acme, client, browser):
        switch_on(acme, "EmailVerificationCode")
        interaction = ask(browser, client, acr_values=TWO)

        page = browser.get(f"/sign-in/second-factor?interaction={interaction}")

        assert told(client, query_of(browser.get(page.headers["Location"]).headers["Location"]))["acr"] == ONE

    def test_that_this_person_cannot_fulfil_is_asked_once_by_a_front_end_of_its_own(
        self, acme, client, browser
    ):
        switch_on(acme, "EmailVerificationCode")
        interaction = ask(browser, client, acr_values=TWO)

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]

        assert found["step"] == "done"
        assert told(client, query_of(browser.get(found["redirect_to"]).headers["Location"]))["acr"] == ONE

    def test_cannot_be_cancelled_but_skipped(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)

        assert browser.post(CANCEL, json={"interaction": interaction}).status_code == 403


class TestADemand:
    def test_case_MT6_of_a_session_cannot_be_skipped(self, acme, client, browser, app):
        interaction = ask(browser, client, claims=essential(TWO))

        assert browser.post(SKIP, json={"interaction": interaction}).status_code == 403
        place = browser.get(f"/oidc/authorize/{interaction}").headers["Location"]
        assert "/sign-in/second-factor?" in place

    def test_decision_M39_of_a_session_can_be_cancelled_on_the_page(self, acme, client, browser, app):
        interaction = ask(browser, client, claims=essential(TWO))
        page = browser.get(f"/sign-in/second-factor?interaction={interaction}")
        button = next(form for form in forms(page) if "cancel" in str(form))

        answer = browser.post(
            "/sign-in/second-factor", data=button.fields | {"cancel": "", "interaction": interaction}
        )

        response = query_of(browser.get(answer.headers["Location"]).headers["Location"])
        assert (response["error"], "code" in response) == (UNMET, False)

    def test_decision_M39_cancel_reaches_a_client_with_form_post(self, acme, client, browser, app):
        interaction = ask(browser, client, claims=essential(TWO), response_mode="form_post")

        answer = browser.post(CANCEL, json={"interaction": interaction})

        page = browser.get(answer.json()["result"]["redirect_to"])
        assert UNMET in page.text

    @pytest.mark.parametrize("values", [(PHR,), ("nobody-knows-it",), ("phrh",)])
    def test_decision_M37_that_nobody_here_can_meet_fails_at_once(self, acme, client, browser, app, values):
        response = query_of(browser.authorize(client, claims=essential(*values)).headers["Location"])

        assert response["error"] == UNMET

    def test_that_this_person_cannot_meet_is_a_page_with_cancel(self, acme, client, browser):
        switch_on(acme, "EmailVerificationCode")
        interaction = ask(browser, client, claims=essential(TWO))

        page = browser.get(f"/sign-in/second-factor?interaction={interaction}")
        page = browser.get(page.headers["Location"])

        assert page.status_code == 200
        assert 'name="cancel"' in page.text
        response = resume(browser, browser.post(CANCEL, json={"interaction": interaction}))
        assert response["error"] == UNMET

    def test_case_MT17_a_weaker_factor_does_not_meet_it(self, acme, client, user, browser):
        app = enrol(acme, user, two_step=False)
        switch_on(acme, "Totp", "WebAuthn")
        passkeys.enrol(acme, user, passkeys.device())
        interaction = ask(browser, client, claims=essential(PHR))

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert answer.status_code == 403
        assert "code=" not in browser.get(f"/oidc/authorize/{interaction}").headers["Location"]

    def test_a_passkey_meets_it(self, acme, client, user, browser):
        switch_on(acme, "Totp", "WebAuthn")
        device = passkeys.device()
        passkeys.enrol(acme, user, device)
        interaction = ask(browser, client, claims=essential(PHR))

        options = passkeys.ask(browser, "second_factor", interaction=interaction)
        answer = passkeys.send(browser, "second_factor", device.get(options), interaction=interaction)

        assert told(client, resume(browser, answer))["acr"] == PHR

    def test_decision_M3_a_level_includes_the_ones_below(self, acme, client, user):
        passkeys.switch_on(acme, "Totp")
        device, browser = passkeys.device(), acme.browser()
        passkeys.enrol(acme, user, device)
        assert passkeys.use(browser, device).status_code == 200

        answers = [browser.authorize(client, claims=essential(value)) for value in (ONE, TWO, PHR)]

        responses = [query_of(answer.headers["Location"]) for answer in answers]
        assert [told(client, response)["acr"] for response in responses] == [ONE, TWO, PHR]

    def test_of_a_passkey_after_a_code_is_met_in_two_steps(self, acme, client, user, browser):
        app = enrol(acme, user, two_step=False)
        switch_on(acme, "Totp", "WebAuthn")
        device = passkeys.device()
        interaction = ask(browser, client, claims=essential(PHR))

        browser.post(TOTP, json={"interaction": interaction, "code": app.code()})
        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]

        assert (found["step"], found["methods"]) == ("set_up", [{"type": "WebAuthn"}])
        options = passkeys.ask(browser, "set_up", interaction=interaction)
        answer = passkeys.send(browser, "set_up", device.create(options), interaction=interaction)
        assert answer.status_code == 200, answer.text
        response = query_of(browser.get(f"/oidc/authorize/{interaction}").headers["Location"])
        assert told(client, response)["acr"] == PHR

    def test_where_only_passkeys_sign_in_is_a_page_with_cancel(self, acme, client, browser):
        with acme.active():
            experiences.change({"mfa": {"factors": []}, "passkey_sign_in": {"enabled": True}}, is_proven=True)
        interaction = ask(browser, client, claims=essential(PHR))

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]

        assert (found["step"], found["methods"], found["cancellable"]) == ("set_up", [], True)


class TestSilently:
    @pytest.mark.parametrize("demand", [{"acr_values": TWO}, {"claims": essential(TWO)}])
    def test_case_MT31_prompt_none_needs_a_page(self, acme, client, browser, app, demand):
        response = query_of(browser.authorize(client, prompt="none", **demand).headers["Location"])

        assert response["error"] == "interaction_required"

    def test_decision_M40_prompt_none_goes_on_where_it_is_met(self, acme, client, browser, app):
        response = query_of(browser.authorize(client, prompt="none", acr_values=ONE).headers["Location"])

        assert told(client, response)["acr"] == ONE

    def test_decision_M40_a_value_that_nobody_knows_is_ignored(self, acme, client, browser, app):
        response = query_of(browser.authorize(client, prompt="none", acr_values="x").headers["Location"])

        assert "code" in response


class TestWithoutFactors:
    def test_wishes_are_ignored_as_before(self, acme, client, user):
        browser = acme.browser()
        browser.sign_in(user)

        place = browser.authorize(client, acr_values=TWO, prompt="none").headers["Location"]

        assert "acr" not in told(client, query_of(place))

    def test_an_essential_value_fails_as_before(self, acme, client, user):
        browser = acme.browser()
        browser.sign_in(user)

        response = query_of(browser.authorize(client, claims=essential(ONE)).headers["Location"])

        assert response["error"] == UNMET
        assert response["error_description"] == "claims must not demand an acr, because no sign-in has one"
