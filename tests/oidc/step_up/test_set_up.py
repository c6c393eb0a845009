"""Setting up a second factor that an application demands."""

from identity.sessions.models import Session
from tests.support import factors
from tests.support.cast import query_of
from tests.support.factors import NEXT, half
from tests.support.forms import forms
from tests.support.step_up import TWO, ask, essential, told


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
