"""What a person proves for a demand: the second factor if signed in, both factors if not."""

import time

import pytest

from identity.sessions.models import Session
from tests.support.cast import query_of
from tests.support.factors import NEXT, SKIP, TOTP, enrol, half, has_session, switch_on
from tests.support.step_up import CANCEL, ONE, PHR, TWO, UNMET, ask, essential, resume, told, voluntary


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
