"""The pages of the second step, as a browser without scripts sees them."""

from django.utils import timezone

from identity.factors.models import BackupCode
from identity.users.models import User
from oidc.grants.models import AuthorizationRequest
from tests.support import codes, factors
from tests.support.cast import PASSWORD
from tests.support.factors import App, enrol, give_backup_codes, is_signed_in, switch_on
from tests.support.forms import form, forms

EMAIL = "EmailVerificationCode"
PATHS = (
    *("/sign-in/second-factor", "/sign-in/set-up", "/sign-in/backup-codes"),
    *("/sign-in/recovery", "/confirm"),
)


def first_step(browser, user, path="/sign-in"):
    """Sign in with the password on the page, and return the page that follows."""
    shown = forms(browser.get(path))
    page = next(one for one in shown if "password" in one.fields)
    answer = page.submit(browser, identifier=user.username, password=PASSWORD)
    assert answer.status_code == 303, answer.text
    assert not factors.has_session(answer)
    return browser.get(answer.headers["Location"])


def with_code(page):
    return next(one for one in forms(page) if "code" in one.fields)


class TestSecondFactor:
    def test_decision_M51_it_asks_for_the_code_and_goes_on(self, acme, user):
        app = enrol(switch_on(acme), user)
        client, browser = acme.application(), acme.browser()
        place = browser.authorize(client).headers["Location"]

        page = first_step(browser, user, place)
        done = with_code(page).submit(browser, code=app.code())
        back = browser.get(done.headers["Location"])

        assert page.status_code == 200
        assert "Confirm that it&#x27;s you" in page.text or "Confirm that it's you" in page.text
        assert 'autocomplete="one-time-code"' in page.text
        assert 'inputmode="numeric"' in page.text
        assert factors.has_session(done)
        assert "code=" in back.headers["Location"]

    def test_a_wrong_code_is_said_at_the_field(self, acme, user):
        app = enrol(switch_on(acme), user)
        browser = acme.browser()
        page = first_step(browser, user)

        wrong = with_code(page).submit(browser, code="000000")
        empty = with_code(wrong).submit(browser, code="")
        right = with_code(empty).submit(browser, code=app.code())

        assert wrong.status_code == 401
        assert "This code is wrong, was used before or has expired." in wrong.text
        assert 'aria-invalid="true"' in wrong.text
        assert (empty.status_code, right.status_code) == (400, 303)

    def test_another_way_is_a_link(self, acme, user):
        enrol(switch_on(acme), user)
        spare = give_backup_codes(acme, user)
        browser = acme.browser()
        page = first_step(browser, user)

        other = browser.get("/sign-in/second-factor?with=BackupCode")
        done = with_code(other).submit(browser, code=spare[0])

        assert "with=BackupCode" in page.text
        assert "with=Totp" in other.text
        assert factors.has_session(done)

    def test_a_code_is_sent_when_it_is_asked_for(self, acme):
        codes.reachable(switch_on(acme))
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=True)
        browser = acme.browser()

        page = first_step(browser, user)
        assert codes.messages_to(email) == []
        asked = form(page).submit(browser, send="")
        code = codes.message_to(email)["code"]
        done = with_code(asked).submit(browser, code=code)

        assert f"{email[0]}•••@e•••.com" in page.text
        assert email not in page.text
        assert factors.has_session(done)

    def test_without_a_first_factor_it_leads_to_the_sign_in(self, acme):
        browser = acme.browser()

        for page in ("second-factor", "set-up", "backup-codes"):
            answer = browser.get(f"/sign-in/{page}")
            assert answer.status_code == 303
            assert answer.headers["Location"].endswith("/sign-in")

    def test_afterwards_it_leads_on(self, acme, user):
        app = enrol(switch_on(acme), user)
        browser = factors.signed_in(acme, user, app)

        assert browser.get("/sign-in/second-factor").headers["Location"].endswith("/account")

    def test_case_MT6_a_demand_is_neither_skipped_nor_cancelled(self, acme, user):
        app = enrol(switch_on(acme), user)
        browser = acme.browser()
        page = first_step(browser, user)

        forced = with_code(page).submit(browser, skip="")
        cancelled = with_code(page).submit(browser, cancel="")
        right = with_code(cancelled).submit(browser, code=app.code())

        assert (forced.status_code, cancelled.status_code) == (403, 403)
        assert "You can&#x27;t use this way here." in forced.text
        assert factors.has_session(right)

    def test_a_step_whose_request_has_expired_is_expired(self, acme, user):
        enrol(switch_on(acme), user)
        browser = acme.browser()
        first_step(browser, user, browser.authorize(acme.application()).headers["Location"])
        with acme.active():
            AuthorizationRequest.objects.update(expires_at=timezone.now())

        answers = [browser.get(f"/sign-in/{page}") for page in ("second-factor", "set-up", "backup-codes")]

        assert [answer.status_code for answer in answers] == [400, 400, 400]

    def test_an_unknown_request_is_expired(self, acme, user):
        enrol(switch_on(acme), user)
        browser = acme.browser()
        first_step(browser, user)

        answer = browser.get("/sign-in/second-factor?interaction=x")

        assert answer.status_code == 400

    def test_case_MT35_no_page_can_be_framed(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        page = first_step(browser, user)

        assert page.headers["X-Frame-Options"] == "DENY"
        assert page.headers["Cache-Control"] == "no-store"

    def test_case_MT34_a_form_of_another_site_is_refused(self, acme, user):
        enrol(switch_on(acme), user)
        browser = acme.browser()
        first_step(browser, user)

        for path in PATHS:
            answer = browser.post(path, data={"code": "1"}, headers={"Origin": "https://elsewhere.example"})
            assert answer.status_code == 403


class TestSetUp:
    def test_decision_M42_it_shows_the_secret_and_goes_on_to_backup_codes(self, acme, user):
        switch_on(acme, "Totp", "BackupCode", policy="Mandatory")
        browser = acme.browser()
        page = first_step(browser, user)
        key = page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]

        done = with_code(page).submit(browser, code=App(key).code())
        offered = browser.get(done.headers["Location"])
        shown = form(offered).submit(browser)

        assert 'src="data:image/svg+xml' in page.text
        assert done.status_code == 303
        assert done.headers["Location"].endswith("/sign-in/backup-codes")
        assert shown.text.count("<li><code>") == 10
        assert "download=" in shown.text
        assert is_signed_in(browser)
        with acme.active():
            assert BackupCode.objects.count() == 10

    def test_a_wrong_code_keeps_the_secret(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        page = first_step(browser, user)
        key = page.text.partition('<code class="key" dir="ltr">')[2].partition("<")[0]

        wrong = with_code(page).submit(browser, code="000000")
        right = with_code(wrong).submit(browser, code=App(key).code())

        assert wrong.status_code == 401
        assert key in wrong.text
        assert factors.has_session(right)

    def test_a_secret_that_expired_is_replaced(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        page = first_step(browser, user)

        answer = with_code(page).submit(browser, code="000000", enrolment="x")

        assert answer.status_code == 400
        assert "This page was open for too long" in answer.text
        assert with_code(answer).fields["enrolment"] not in {"", "x"}

    def test_decision_M15_an_offer_has_a_button_to_decline(self, acme, user):
        switch_on(acme, "Totp", policy="PromptOnlyAtSignIn")
        browser = acme.browser()
        page = first_step(browser, user)

        declined = forms(page)[-1].submit(browser, skip="")

        assert "Not now" in page.text
        assert factors.has_session(declined)
        with acme.active():
            assert User.objects.get(pk=user.pk).factor_skipped_at

    def test_case_MT6_a_demand_has_none(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        page = first_step(browser, user)

        forced = with_code(page).submit(browser, skip="")
        cancelled = with_code(page).submit(browser, cancel="")

        assert "Not now" not in page.text
        assert not factors.has_session(forced)
        assert (forced.status_code, cancelled.status_code) == (403, 403)
        assert "You can&#x27;t use this way here." in forced.text
