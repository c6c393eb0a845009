"""Demands for a stronger sign-in: what an application asks for, what the person does, what it is told."""

import json
import time

import pytest

from identity.sessions.models import Session
from identity.users.models import User
from interaction.experience import services as experience
from oidc.applications import services as applications
from oidc.settings import services as oidc_settings
from oidc.settings.models import OidcSettings
from tests.support import factors, passkeys
from tests.support.cast import query_of
from tests.support.factors import NEXT, SKIP, TOTP, enrol, half, has_session, switch_on
from tests.support.forms import forms
from tests.support.independent import claims_of

ONE, TWO, PHR = "urn:service:acr:1fa", "urn:service:acr:2fa", "phr"
CANCEL = "/api/interaction/mfa/cancel"
UNMET = "unmet_authentication_requirements"


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def user(acme):
    return acme.user()


@pytest.fixture
def browser(acme, user):
    """A browser that signed in with one factor, where the tenant has more."""
    switch_on(acme)
    browser = acme.browser()
    assert has_session(browser.sign_in(user))
    return browser


@pytest.fixture
def app(acme, user, browser):
    """An authenticator that the person has, and is not asked for without a reason."""
    return enrol(acme, user, two_step=False)


def essential(*values):
    return json.dumps({"id_token": {"acr": {"essential": True, "values": list(values)}}})


def voluntary(*values):
    return json.dumps({"id_token": {"acr": {"values": list(values)}}})


def ask(browser, client, **parameters):
    """Send an authorization request and return the id under which it waits for the person."""
    answer = browser.authorize(client, **parameters)
    place = answer.headers["Location"]
    assert "/sign-in/second-factor?" in place, place
    return query_of(place)["interaction"]


def resume(browser, answer):
    """Follow the answer of the interaction API to the application, and return what that is told."""
    assert answer.status_code == 200, answer.text
    return query_of(browser.get(answer.json()["result"]["redirect_to"]).headers["Location"])


def told(client, response):
    return claims_of(client.redeem(response["code"]).json()["id_token"])


def require(acme, client, value=TWO, **fields):
    with acme.active():
        applications.change(client.application, {"required_acr": value} | fields)


class TestASession:
    @pytest.mark.parametrize(
        "demand",
        [
            {"acr_values": TWO},
            {"acr_values": f"nobody-knows-it {PHR} {TWO}"},
            {"claims": essential(TWO)},
            {"claims": essential("nobody-knows-it", TWO)},
            {"claims": voluntary(TWO)},
        ],
    )
    def test_decision_M38_is_asked_for_the_missing_factor_only(self, acme, client, browser, app, demand):
        interaction = ask(browser, client, **demand)

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert told(client, resume(browser, answer))["acr"] == TWO

    def test_decision_M14_is_stepped_up_in_place(self, acme, client, browser, app):
        before = told(client, query_of(browser.authorize(client).headers["Location"]))
        old = dict(browser.http.cookies)
        time.sleep(1.1)
        interaction = ask(browser, client, acr_values=TWO)

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        after = told(client, resume(browser, answer))
        assert (before["acr"], after["acr"]) == (ONE, TWO)
        assert (before["amr"], after["amr"]) == (["pwd"], ["pwd", "otp", "mfa"])
        assert (after["sid"], after["auth_time"]) == (before["sid"], before["auth_time"])
        changed = {name for name, value in browser.http.cookies.items() if old.get(name) != value}
        assert [name for name in changed if "session" in name]
        stolen = acme.browser()
        for name, value in old.items():
            stolen.http.cookies.set(name, value)
        assert stolen.get("/account").status_code == 303
        with acme.active():
            assert Session.objects.get(pk=after["sid"]).second_factor_at is not None
            assert Session.objects.count() == 1

    def test_decision_M14_is_not_asked_again(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)
        browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        answer = browser.authorize(client, claims=essential(TWO))

        assert "code=" in answer.headers["Location"]

    def test_decision_M14_keeps_its_level_at_a_weaker_sign_in(self, acme, client, user, browser, app):
        interaction = ask(browser, client, acr_values=TWO)
        resume(browser, browser.post(TOTP, json={"interaction": interaction, "code": app.code()}))

        assert has_session(browser.sign_in(user))

        assert "code=" in browser.authorize(client, claims=essential(TWO)).headers["Location"]

    def test_decision_M38_of_sufficient_level_goes_on(self, acme, client, browser):
        assert "code=" in browser.authorize(client, acr_values=ONE).headers["Location"]
        assert "code=" in browser.authorize(client, claims=essential(ONE)).headers["Location"]

    def test_decision_M37_of_values_that_nobody_knows_goes_on(self, acme, client, browser, app):
        assert "code=" in browser.authorize(client, acr_values="nobody-knows-it").headers["Location"]

    def test_decision_M38_max_age_is_judged_by_the_sign_in(self, acme, client, browser, app):
        time.sleep(1.1)

        answer = browser.authorize(client, acr_values=TWO, max_age="1")

        assert "/sign-in?" in answer.headers["Location"]

    def test_decision_M38_prompt_login_asks_for_both_steps(self, acme, client, user, browser, app):
        interaction = ask(browser, client, acr_values=TWO)
        browser.post(TOTP, json={"interaction": interaction, "code": app.code()})
        place = browser.authorize(client, acr_values=TWO, prompt="login").headers["Location"]
        assert "/sign-in?" in place
        again = query_of(place)["interaction"]

        result = half(browser, user, interaction=again)

        assert result["next"]["reasons"] == ["acr"]
        answer = browser.post(TOTP, json={"interaction": again, "code": app.code()})
        assert told(client, resume(browser, answer))["acr"] == TWO

    def test_its_next_step_says_why(self, acme, client, browser, app):
        interaction = ask(browser, client, claims=essential(TWO))

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]

        assert (found["step"], found["reasons"], found["least_acr"]) == ("second_factor", ["acr"], TWO)
        assert (found["skippable"], found["cancellable"]) == (False, True)

    def test_of_another_person_or_tenant_cannot_answer(self, acme, rival, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)
        other, stranger = acme.browser(), rival.browser()
        other.sign_in(acme.user())

        for thief in (other, stranger):
            answer = thief.post(TOTP, json={"interaction": interaction, "code": app.code()})
            assert answer.status_code in {400, 404}, answer.text
            assert thief.post(CANCEL, json={"interaction": interaction}).status_code in {400, 404}

    def test_wrong_codes_lock_the_person(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)

        answers = [
            browser.post(TOTP, json={"interaction": interaction, "code": "000000"}).status_code
            for _ in range(11)
        ]
        right = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert set(answers) == {401}
        assert (right.status_code, has_session(right)) == (401, False)

    def test_ends_meanwhile(self, acme, client, browser, app):
        interaction = ask(browser, client, acr_values=TWO)
        with acme.active():
            Session.objects.update(ended_at="2026-01-01T00:00:00Z")

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert (answer.status_code, has_session(answer)) == (404, False)


class TestASignIn:
    def test_decision_M37_is_asked_for_both(self, acme, client, user):
        app = enrol(switch_on(acme), user, two_step=False)
        browser = acme.browser()
        interaction = query_of(browser.authorize(client, acr_values=TWO).headers["Location"])["interaction"]

        result = half(browser, user, interaction=interaction)

        assert (result["next"]["reasons"], result["next"]["skippable"]) == (["acr"], True)
        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})
        assert told(client, resume(browser, answer))["acr"] == TWO

    def test_decision_M39_a_wish_may_be_skipped_and_the_token_tells(self, acme, client, user):
        enrol(switch_on(acme), user, two_step=False)
        browser = acme.browser()
        interaction = query_of(browser.authorize(client, acr_values=TWO).headers["Location"])["interaction"]
        half(browser, user, interaction=interaction)

        answer = browser.post(SKIP, json={"interaction": interaction})

        assert told(client, resume(browser, answer))["acr"] == ONE

    def test_case_MT6_an_essential_value_cannot_be_skipped(self, acme, client, user):
        enrol(switch_on(acme), user, two_step=False)
        browser = acme.browser()
        asked = browser.authorize(client, claims=essential(TWO)).headers["Location"]
        interaction = query_of(asked)["interaction"]
        half(browser, user, interaction=interaction)

        answer = browser.post(SKIP, json={"interaction": interaction})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert "code=" not in browser.get(f"/oidc/authorize/{interaction}").headers["Location"]

    def test_decision_M39_cancel_ends_it_at_the_client(self, acme, client, user):
        app = enrol(switch_on(acme), user, two_step=False)
        browser = acme.browser()
        asked = browser.authorize(client, claims=essential(TWO)).headers["Location"]
        interaction = query_of(asked)["interaction"]
        half(browser, user, interaction=interaction)

        response = resume(browser, browser.post(CANCEL, json={"interaction": interaction}))

        assert (response["error"], response["state"]) == (UNMET, "af0ifjsldkj")
        late = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})
        assert (late.status_code, has_session(late)) == (400, False)


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
            experience.change({"mfa": {"factors": []}, "passkey_sign_in": {"enabled": True}})
        interaction = ask(browser, client, claims=essential(PHR))

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]

        assert (found["step"], found["methods"], found["cancellable"]) == ("set_up", [], True)


class TestSettingUp:
    def test_decision_M39_is_offered_to_whoever_has_no_factor(self, acme, client, browser):
        interaction = ask(browser, client, claims=essential(TWO))

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]
        offer = browser.post(factors.SET_UP, json={"interaction": interaction}).json()["result"]
        answer = browser.post(
            factors.SET_UP_VERIFY,
            json={
                "interaction": interaction,
                "enrolment": offer["enrolment"],
                "code": factors.App(offer["secret"]).code(),
            },
        )

        assert found["step"] == "set_up"
        assert answer.status_code == 200, answer.text
        response = query_of(browser.get(f"/oidc/authorize/{interaction}").headers["Location"])
        assert told(client, response)["acr"] == TWO

    def test_case_MT7_an_old_session_sets_up_nothing(self, acme, client, user, browser):
        with acme.active():
            Session.objects.update(auth_time="2026-01-01T00:00:00Z")
        interaction = ask(browser, client, claims=essential(TWO))

        found = browser.get(f"{NEXT}?interaction={interaction}").json()["result"]
        offer = browser.post(factors.SET_UP, json={"interaction": interaction})
        page = browser.get(f"/sign-in/set-up?interaction={interaction}")

        assert (found["step"], offer.status_code) == ("sign_in", 403)
        assert f"/sign-in?interaction={interaction}" in page.text
        half(browser, user, interaction=interaction)
        assert browser.post(factors.SET_UP, json={"interaction": interaction}).status_code == 200

    def test_a_set_up_that_took_too_long_asks_for_a_new_sign_in(self, acme, client, browser):
        interaction = ask(browser, client, claims=essential(TWO))
        page = browser.get(f"/sign-in/set-up?interaction={interaction}")
        set_up = next(form for form in forms(page) if "code" in form.fields)
        key = page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]
        with acme.active():
            Session.objects.update(auth_time="2026-01-01T00:00:00Z")

        late = set_up.submit(browser, code=factors.App(key).code())
        skipped = set_up.submit(browser, skip="")

        assert (late.status_code, skipped.status_code) == (403, 403)
        assert f"/sign-in?interaction={interaction}" in late.text
        assert f"/sign-in?interaction={interaction}" in skipped.text


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
            oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]})
        require(acme, client, "silver")
        ask(browser, client)
        with acme.active():
            OidcSettings.objects.update(acr_aliases=[])  # as an earlier release allowed

        assert query_of(browser.authorize(client).headers["Location"])["error"] == UNMET

    def test_decision_M19_default_acr_values_are_a_wish(self, acme, client, browser, app):
        with acme.active():
            applications.change(client.application, {"default_acr_values": [TWO]})

        interaction = ask(browser, client)

        answer = browser.post(SKIP, json={"interaction": interaction})
        assert told(client, resume(browser, answer))["acr"] == ONE

    def test_decision_M19_acr_values_replace_the_default_ones(self, acme, client, browser, app):
        with acme.active():
            applications.change(client.application, {"default_acr_values": [TWO]})

        assert "code=" in browser.authorize(client, acr_values=ONE).headers["Location"]

    def test_decision_M4_an_alias_is_told_as_it_is_spelled(self, acme, client, browser, app):
        with acme.active():
            oidc_settings.change({"acr_aliases": [{"value": "silver", "level": TWO}]})
        interaction = ask(browser, client, acr_values=f"{PHR} silver {TWO}")

        answer = browser.post(TOTP, json={"interaction": interaction, "code": app.code()})

        assert told(client, resume(browser, answer))["acr"] == "silver"


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
