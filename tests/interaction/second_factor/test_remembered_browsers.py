"""Browsers in which no second factor is asked for a while: who gets them, sees them and what they satisfy."""

import html
import json
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from database.chains import Chain
from identity.factors import forgetting
from identity.factors.models import KnownBrowser
from identity.factors.needed import FirstFactor
from identity.sessions import known_users
from identity.sessions.known_users import KnownUsers
from identity.sessions.models import Session
from identity.users import credentials
from identity.users.models import User
from interaction.experience.models import SignInExperience
from interaction.journeys.second_factor import circumstances, starting
from interaction.journeys.second_factor.sign_ins import SignIn, Visit
from tests.support import audit_log, management, passkeys
from tests.support.cast import PASSWORD, query_of
from tests.support.factors import (
    BACKUP,
    NEXT,
    SKIP,
    TOTP,
    enrol,
    give_backup_codes,
    half,
    has_session,
    switch_on,
)
from tests.support.forms import forms
from tests.support.management import result_of
from tests.support.remembered_browsers import (
    MINE,
    is_asked,
    known,
    remembering,
    signed_out,
    trust,
    with_cookie,
)
from tests.support.statement_costs import Inside


@pytest.fixture
def app(acme, app):
    """The authenticator of the user, in a tenant in which browsers can be remembered."""
    trust(acme)
    return app


_TO_A_WHOLE_SECOND = {
    "postgresql": (
        "UPDATE factors_knownbrowser "
        "SET remembered_at = DATE_TRUNC('second', remembered_at) + INTERVAL '1 second'"
    ),
    "sqlite": (
        "UPDATE factors_knownbrowser "
        "SET remembered_at = STRFTIME('%Y-%m-%d %H:%M:%S.000000', remembered_at, '+1 second')"
    ),
}


def move_to_a_whole_second():
    """Let the database move the times when browsers were remembered to the beginning of the next second."""
    with connection.cursor() as cursor:
        cursor.execute(_TO_A_WHOLE_SECOND[connection.vendor])


class TestRemembering:
    def test_a_browser_that_was_remembered_at_a_whole_second(self, acme, user, app):
        browser = remembering(acme, user, app)
        move_to_a_whole_second()

        assert not is_asked(signed_out(browser), user)

    def test_decision_M35_the_next_sign_in_is_of_level_1_and_remembered(self, acme, user, app):
        browser = signed_out(remembering(acme, user, app))

        assert not is_asked(browser, user)

        with acme.active():
            session = Session.objects.latest("updated_at")
        assert (session.level, session.remembered, session.amr) == (1, True, ["pwd"])
        assert session.second_factor_at is None
        entry = audit_log.last(acme, "SignIn.Password")
        assert (entry.payload["remembered"], entry.payload["factors"]) == (True, [])

    def test_decision_M35_nor_is_the_factor_asked_for_in_a_request_of_an_application(self, acme, user, app):
        browser = signed_out(remembering(acme, user, app))
        place = browser.authorize(acme.application()).headers["Location"]

        answer = browser.sign_in(user, interaction=query_of(place)["interaction"])

        assert has_session(answer)

    def test_decision_M35_a_session_of_two_factors_is_not_of_a_remembered_browser(self, acme, user, app):
        browser, device = signed_out(remembering(acme, user, app)), passkeys.device()
        passkeys.switch_on(acme, "Totp")
        passkeys.enrol(acme, user, device)

        assert has_session(passkeys.use(browser, device))

        with acme.active():
            session = Session.objects.latest("updated_at")
        assert (session.level, session.remembered) == (3, False)
        assert audit_log.last(acme, "SignIn.Passkey").payload["remembered"] is False

    def test_decision_M35_a_policy_that_has_asked_still_asks_if_the_browser_is_remembered_meanwhile(
        self, acme, user, app
    ):
        browser = acme.browser()
        half(browser, user)
        with_cookie(browser, known(remembering(acme, user, app)))

        assert browser.get(NEXT).json()["result"]["step"] == "second_factor"
        assert browser.post(SKIP, json={}).status_code == 403

    def test_a_tenant_without_factors_records_no_browser(self, acme, user):
        assert has_session(acme.browser().sign_in(user))

        with acme.active():
            assert not KnownBrowser.objects.exists()

    def test_decision_M35_nothing_is_remembered_unless_asked(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(TOTP, json={"code": app.code()}))

        assert is_asked(browser, user)

    def test_decision_M35_it_is_ignored_with_a_backup_code(self, acme, user, app):
        code = give_backup_codes(acme, user)[0]
        browser = acme.browser()
        half(browser, user)
        assert has_session(browser.post(BACKUP, json={"code": code, "remember": True}))

        assert is_asked(browser, user)

    def test_decision_M35_it_is_ignored_while_the_policy_is_off(self, acme, user):
        app = enrol(switch_on(acme), user)
        browser = acme.browser()
        assert half(browser, user)["next"]["may_remember"] is False
        assert has_session(browser.post(TOTP, json={"code": app.code(), "remember": True}))
        trust(acme)

        assert is_asked(browser, user)

    def test_decision_M49_next_tells_that_it_may_be_remembered(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)

        assert browser.get(NEXT).json()["result"]["may_remember"] is True

    def test_decision_M49_it_may_not_be_remembered_where_a_factor_is_set_up(self, acme, user):
        trust(switch_on(acme, "Totp", policy="Mandatory"))

        step = half(acme.browser(), user)["next"]

        assert (step["step"], step["may_remember"]) == ("set_up", False)

    def test_decision_M49_a_session_that_is_stepped_up_is_asked_in_any_case(self, acme, user, app):
        with acme.active():
            User.objects.filter(pk=user.pk).update(two_step=False)
        client, browser = acme.application(name="Payments"), acme.browser()
        assert has_session(browser.sign_in(user))
        place = browser.authorize(client, acr_values="urn:service:acr:2fa").headers["Location"]

        page, told = browser.get(place), browser.get(f"{NEXT}?{place.partition('?')[2]}").json()["result"]

        assert (told["step"], told["may_remember"]) == ("second_factor", False)
        assert 'name="code"' in page.text
        assert 'name="remember"' not in page.text
        assert "to continue to <bdi>Payments</bdi>" in page.text

    def test_decision_M35_the_box_is_on_the_page_of_a_sign_in(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)

        assert 'name="remember"' in browser.get("/sign-in/second-factor").text

    def test_decision_M38_prompt_login_asks_for_both_steps(self, acme, user, app):
        client, browser = acme.application(), remembering(acme, user, app)
        place = browser.authorize(client, prompt="login").headers["Location"]

        answer = browser.sign_in(user, interaction=place.partition("interaction=")[2])

        assert not has_session(answer)

    def test_decision_M43_a_remembered_session_proves_nothing(self, acme, user, app):
        browser = signed_out(remembering(acme, user, app))
        assert not is_asked(browser, user)

        refused = browser.http.delete(f"{acme.address}{MINE}")

        assert (refused.status_code, refused.json()["result"]["reason"]) == (403, "confirm_needed")

    def test_decision_M35_the_page_has_an_unticked_box(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        page = browser.get("/sign-in/second-factor")
        assert page.status_code == 200
        [form] = [one for one in forms(page) if "code" in one.fields]

        done = form.submit(browser, code=app.code(), remember="on")

        assert "Don't ask here again for 30 days" in html.unescape(page.text)
        assert "checked" not in page.text
        assert has_session(done)
        assert not is_asked(browser, user)

    def test_decision_M35_no_box_for_a_backup_code_or_without_the_policy(self, acme, user, app):
        give_backup_codes(acme, user)
        browser = acme.browser()
        half(browser, user)
        backup = browser.get("/sign-in/second-factor?with=BackupCode")
        trust(acme, is_on=False)
        off = browser.get("/sign-in/second-factor")

        assert 'name="remember"' not in backup.text
        assert 'name="remember"' not in off.text

    def test_decision_M7_a_user_has_at_most_50_browsers(self, acme, user, app):
        with acme.active():
            for number in range(50):
                at = timezone.now() - timedelta(days=50 - number)
                token_hash = f"{number:02}"
                KnownBrowser.objects.create(
                    user=user, token_hash=token_hash, first_seen_at=at, last_seen_at=at
                )

        remembering(acme, user, app)

        with acme.active():
            left = KnownBrowser.objects.order_by("last_seen_at").values_list("token_hash", flat=True)
            assert len(left) == 50
            assert left[0] == "01"


class TestTheList:
    def test_decision_M50_a_user_lists_and_forgets_browsers(self, acme, user, app):
        browser = remembering(acme, user, app)

        [shown] = result_of(browser.get(MINE))["data"]
        gone = browser.http.delete(f"{acme.address}{MINE}/{shown['id']}")
        again = browser.http.delete(f"{acme.address}{MINE}/{shown['id']}")

        assert shown.keys() == {"id", "name", "ip", "first_seen_at", "last_seen_at", "remembered_until"}
        assert (gone.status_code, again.status_code) == (200, 404)
        assert is_asked(browser, user)
        assert len(audit_log.entries(acme, "TrustedDevice.Create")) == 1
        assert len(audit_log.entries(acme, "TrustedDevice.Delete")) == 1

    def test_decision_M46_an_administrator_lists_and_forgets_browsers(self, acme, user, app):
        browser, admin = remembering(acme, user, app), management.superuser(acme)
        path = f"/users/{user.pk}/trusted-devices"

        listed = result_of(admin.get(path))["data"]
        gone = admin.delete(f"{path}/{listed[0]['id']}")
        all_gone = admin.delete(path)

        assert len(listed) == 1
        assert (gone.status_code, all_gone.status_code) == (200, 200)
        assert is_asked(browser, user)


class TestRaces:
    def test_decision_M62_a_browser_that_is_forgotten_meanwhile_is_asked(self, acme, user, app):
        browser = remembering(acme, user, app)
        secrets = known_users.parse(known(browser).value).browser_secrets
        with acme.active():
            here = SignInExperience.objects.get()
            visit = Visit("", None, None, KnownUsers(browser_secrets=secrets))
            judged, _ = starting.judge(user, SignIn(way=FirstFactor.PASSWORD, amr=["pwd"]), here, visit)
            assert judged.is_remembered
            chain = Chain()
            credentials.record_sign_in(user, chain)
            circumstances.record(user, judged, here, visit, chain)
            before = User.objects.get(pk=user.pk).login_count
            forgetting.forget_all(user)

            with pytest.raises(credentials.FactorsChanged):
                chain.run()

            assert User.objects.get(pk=user.pk).login_count == before

    def test_decision_M62_so_is_one_that_is_forgotten_after_the_sign_in_was_judged(
        self, acme, user, app, monkeypatch
    ):
        cookie = known(remembering(acme, user, app))
        decide = starting.find_need

        def decide_and_forget(*arguments):
            need = decide(*arguments)
            forgetting.forget_all(User.objects.get(pk=user.pk))
            return need

        monkeypatch.setattr(starting, "find_need", decide_and_forget)
        browser = Inside(acme)
        browser.http.cookies[cookie.name] = cookie.value

        answer = browser.send("/api/interaction/sign-in", {"identifier": user.username, "password": PASSWORD})

        assert answer.status_code == 200, answer.content
        assert answer.json()["result"]["next"]["step"] == "second_factor"


class TestDemands:
    """A remembered browser satisfies organizations, and no demand for a level."""

    @pytest.fixture
    def browser(self, acme, user, app):
        browser = signed_out(remembering(acme, user, app))
        assert not is_asked(browser, user)
        return browser

    @pytest.mark.parametrize("is_signed_in", [True, False])
    def test_case_MT28_an_essential_acr_is_asked_for(self, acme, user, app, browser, is_signed_in):
        browser = browser if is_signed_in else signed_out(browser)
        client = acme.application()
        claims = json.dumps({"id_token": {"acr": {"essential": True, "value": "urn:service:acr:2fa"}}})
        place = browser.authorize(client, claims=claims).headers["Location"]
        if not is_signed_in:
            answer = browser.sign_in(user, interaction=query_of(place)["interaction"])
            assert not has_session(answer)
            place = answer.json()["result"]["redirect_to"]

        assert "/sign-in/second-factor?" in place

    def test_case_MT28_nor_does_prompt_none_pass(self, acme, user, app, browser):
        answer = browser.authorize(acme.application(), acr_values="urn:service:acr:2fa", prompt="none")

        assert query_of(answer.headers["Location"])["error"] == "interaction_required"

    def test_decision_M18_an_organization_that_requires_two_factors_is_satisfied(
        self, acme, user, app, browser
    ):
        admin = management.superuser(acme)
        organization = admin.created("/organizations", name="Clinic", is_mfa_required=True)["id"]
        result_of(admin.post(f"/organizations/{organization}/users", user_ids=[str(user.pk)]))

        answer = browser.authorize(acme.application(), organization_id=organization)

        assert "code" in query_of(answer.headers["Location"])
