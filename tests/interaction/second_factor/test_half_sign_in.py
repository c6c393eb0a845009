"""Between the first factor and the session: a half sign-in is no session, and can only be continued."""

import pytest

from identity.factors import services
from identity.sessions.models import Session
from identity.users import assigned_passwords, sign_in_locks
from identity.users.models import User
from interaction.journeys.second_factor import starting
from interaction.pending_sign_ins.models import PendingSignIn
from tests.support import codes, factors
from tests.support.cast import PASSWORD
from tests.support.factors import (
    BACKUP,
    NEXT,
    SEND,
    SET_UP,
    SET_UP_CODES,
    SET_UP_VERIFY,
    SKIP,
    TOTP,
    VERIFY,
    enrol,
    half,
    has_session,
    pending,
    switch_on,
)
from tests.support.statement_costs import Inside


class TestThePower:
    def test_case_MT1_a_half_sign_in_opens_nothing(self, acme, user, app):
        client, browser = acme.application(), acme.browser()

        result = half(browser, user)

        assert result["redirect_to"].endswith("/sign-in/second-factor")
        assert result["next"]["step"] == "second_factor"
        assert browser.get("/account").status_code == 303
        assert browser.get("/account/security").status_code == 303
        assert browser.get("/api/my-account/sessions").status_code == 401
        assert browser.post(SET_UP_CODES, json={}).status_code == 401
        assert "/sign-in?" in browser.authorize(client).headers["Location"]
        with acme.active():
            assert not Session.objects.exists()

    def test_case_MT2_another_browser_cannot_go_on(self, acme, user, app):
        browser, other = acme.browser(), acme.browser()
        half(browser, user)

        answer = other.post(TOTP, json={"code": app.code()})

        assert (answer.status_code, answer.json()["result"]) == (404, {"reason": "nothing_under_way"})
        assert not has_session(answer)

    def test_case_MT3_another_tenant_cannot_go_on(self, acme, rival, user, app):
        switch_on(rival)
        browser = acme.browser()
        half(browser, user)
        slug, other = acme.tenant.slug, rival.browser()
        for name, value in browser.http.cookies.items():
            other.http.cookies.set(name.replace(slug, rival.tenant.slug), value)

        answer = other.post(TOTP, json={"code": app.code()})

        assert answer.status_code == 404

    @pytest.mark.parametrize("event", ["password", "sign-out"])
    def test_case_MT4_it_ends_with_the_password_and_with_signing_out(self, acme, user, app, event):
        browser = acme.browser()
        half(browser, user)
        with acme.active():
            if event == "password":
                assigned_passwords.set_password(
                    User.objects.get(pk=user.pk), "an other 1 entirely", is_proven=True
                )
            else:
                User.objects.filter(pk=user.pk).update(epoch=user.epoch + 1)

        answer = browser.post(TOTP, json={"code": app.code()})

        assert answer.status_code == 404

    def test_case_MT4_suspension_is_told_only_after_the_second_factor(self, acme, user, app):
        browser = acme.browser()
        with acme.active():
            User.objects.filter(pk=user.pk).update(is_suspended=True)

        first = browser.sign_in(user)
        wrong = browser.post(TOTP, json={"code": "000000"})
        right = browser.post(TOTP, json={"code": app.code()})

        assert (first.status_code, first.json()["result"]["next"]["step"]) == (200, "second_factor")
        assert wrong.json()["result"] == {"reason": "second_factor_wrong"}
        assert right.status_code == 403
        assert "suspended" in right.json()["message"]
        assert not has_session(right)

    def test_case_MT4_a_factor_that_is_added_meanwhile_is_asked_for(self, acme, user):
        switch_on(acme, "Totp", policy="Mandatory")
        browser = acme.browser()
        assert half(browser, user)["next"]["step"] == "set_up"
        offer = browser.post(SET_UP, json={}).json()["result"]
        enrol(acme, user)

        mine = factors.App(offer["secret"])
        answer = browser.post(SET_UP_VERIFY, json={"enrolment": offer["enrolment"], "code": mine.code()})

        assert (answer.status_code, answer.json()["result"]) == (403, {"reason": "factor_not_allowed"})
        assert browser.get(NEXT).json()["result"]["step"] == "second_factor"

    def test_case_MT7_a_half_sign_in_does_not_replace_a_factor_that_is_removed_meanwhile(self, acme, user):
        """One who knows the password must not set up a factor while the user replaces the removed one."""
        switch_on(acme, "Totp", policy="PromptOnlyAtSignIn")
        enrol(acme, user)
        browser = acme.browser()
        half(browser, user)
        with acme.active():
            services.remove(user, services.get_factors(user)[0].id)

        answers = [browser.post(SET_UP, json={}), browser.post(SKIP, json={})]

        assert [answer.status_code for answer in answers] == [404, 404]
        assert browser.get(NEXT).json()["result"]["step"] == "sign_in"
        assert not any(has_session(answer) for answer in answers)
        assert half(browser, user)["next"]["step"] == "set_up"

    @pytest.mark.parametrize("is_asked", [True, False])
    def test_decision_M13_factors_that_change_at_the_moment_of_the_sign_in_are_judged_again(
        self, acme, user, monkeypatch, is_asked
    ):
        switch_on(acme, "Totp")
        decide = starting.find_need
        enrolled: list[factors.App] = []

        def decide_and_enrol(*arguments):
            need = decide(*arguments)
            if not enrolled:
                enrolled.append(enrol(acme, User.objects.get(pk=user.pk), two_step=is_asked))
            return need

        monkeypatch.setattr(starting, "find_need", decide_and_enrol)

        browser = Inside(acme)
        answer = browser.send("/api/interaction/sign-in", {"identifier": user.username, "password": PASSWORD})

        assert answer.status_code == 200
        assert ("next" in answer.json()["result"]) is is_asked
        with acme.active():
            assert Session.objects.filter(user=user).exists() is not is_asked

    def test_case_MT4_a_password_that_changes_at_the_moment_of_the_first_factor_ends_it(
        self, acme, user, app, monkeypatch
    ):
        decide = starting.find_need

        def decide_and_change(*arguments):
            need = decide(*arguments)
            assigned_passwords.set_password(
                User.objects.get(pk=user.pk), "an other 1 entirely", is_proven=True
            )
            return need

        monkeypatch.setattr(starting, "find_need", decide_and_change)

        browser = Inside(acme)
        answer = browser.send("/api/interaction/sign-in", {"identifier": user.username, "password": PASSWORD})

        assert answer.status_code == 401, answer.content
        assert not pending(acme)

    def test_case_MT5_no_other_step_goes_around_it(self, acme, user, app):
        client, browser = acme.application(), acme.browser()
        place = browser.authorize(client).headers["Location"]
        interaction = place.partition("interaction=")[2]
        half(browser, user, interaction=interaction)

        resumed = browser.get(f"/oidc/authorize/{interaction}")
        chosen = browser.get(f"/select-account?interaction={interaction}")

        assert "/sign-in?" in resumed.headers["Location"]
        assert "/sign-in?" in chosen.headers["Location"]
        assert browser.post(SKIP, json={"interaction": interaction}).status_code == 403

    def test_decision_M11_a_new_one_replaces_the_old_one(self, acme, user, app):
        browser, other = acme.browser(), acme.user()
        enrol(acme, other)
        half(browser, user)
        half(browser, other)

        assert [row.user_id for row in pending(acme)] == [other.pk]
        assert browser.post(TOTP, json={"code": app.code()}).status_code == 401

    def test_decision_M11_ten_wrong_codes_end_it(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        with acme.active():
            PendingSignIn.objects.update(tries=9)

        last = browser.post(TOTP, json={"code": "000000"})
        after = browser.post(TOTP, json={"code": app.code()})

        assert last.status_code == 401
        assert (after.status_code, after.json()["result"]) == (404, {"reason": "nothing_under_way"})

    def test_decision_M11_a_request_that_is_no_code_counts_for_nothing(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)

        assert browser.post(TOTP, json={}).status_code == 400
        assert browser.post(TOTP, json={"code": ["1"]}).status_code == 400

        assert pending(acme)[0].tries == 0

    def test_decision_M11_it_expires(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)
        with acme.active():
            row = PendingSignIn.objects.get()
            PendingSignIn.objects.update(expires_at=row.created_at)

        assert browser.post(TOTP, json={"code": app.code()}).status_code == 404

    def test_decision_M11_a_finished_one_is_over(self, acme, user, app):
        browser = acme.browser()
        half(browser, user)

        assert has_session(browser.post(TOTP, json={"code": app.code()}))
        assert browser.post(TOTP, json={"code": app.code()}).status_code == 404
        with acme.active():
            assert Session.objects.count() == 1


class TestTheLock:
    @pytest.fixture
    def locked(self, acme, user, app):
        """Ten wrong codes, from two half sign-ins."""
        for _ in range(2):
            browser = acme.browser()
            half(browser, user)
            for _ in range(5):
                assert browser.post(TOTP, json={"code": "000000"}).status_code == 401
        browser = acme.browser()
        half(browser, user)
        return browser

    def test_case_MT12_guesses_from_many_addresses_lock_the_person(self, acme, user, app):
        first = {"identifier": user.username, "password": PASSWORD}

        for number in range(11):
            inside = Inside(acme)
            inside.http.defaults["REMOTE_ADDR"] = f"192.0.2.{number}"
            assert inside.send("/api/interaction/sign-in", first).status_code == 200
            answer = inside.send(TOTP, {"code": app.code() if number == 10 else "000000"})
            assert answer.json()["result"] == {"reason": "second_factor_wrong"}

        assert answer.status_code == 401
        assert int(answer.headers["Retry-After"]) > 0

    def test_decision_M33_ten_wrong_codes_lock_all_kinds_of_codes(self, acme, user, app, locked):
        spare = factors.give_backup_codes(acme, user)[0]

        by_app = locked.post(TOTP, json={"code": app.code()})
        by_backup_code = locked.post(BACKUP, json={"code": spare})

        assert (by_app.status_code, by_backup_code.status_code) == (401, 401)
        assert by_app.json()["result"] == {"reason": "second_factor_wrong"}
        assert int(by_app.headers["Retry-After"]) <= 60

    def test_decision_M33_an_administrator_lifts_it(self, acme, user, app, locked):
        with acme.active():
            sign_in_locks.end(user)

        assert has_session(locked.post(TOTP, json={"code": app.code()}))

    def test_decision_M33_a_new_password_does_not_lift_it(self, acme, user, app, locked):
        with acme.active():
            assigned_passwords.set_password(User.objects.get(pk=user.pk), PASSWORD, is_proven=True)
        browser = acme.browser()
        half(browser, user)

        assert browser.post(TOTP, json={"code": app.code()}).status_code == 401

    def test_decision_M33_the_person_is_told(self, acme):
        codes.reachable(acme)
        switch_on(acme, "Totp")
        email = codes.new_email()
        user = acme.user(email=email, email_verified=True)
        enrol(acme, user)
        for _ in range(2):
            browser = acme.browser()
            half(browser, user)
            for _ in range(5):
                browser.post(TOTP, json={"code": "000000"})

        assert "Too many wrong codes" in codes.message_to(email)["subject"]

    def test_case_MT13_the_answer_is_that_of_a_wrong_code(self, acme, user, app, locked):
        answer = locked.post(TOTP, json={"code": app.code()})
        fresh = acme.browser()
        other = acme.user()
        enrol(acme, other)
        half(fresh, other)
        wrong = fresh.post(TOTP, json={"code": "000000"})

        assert answer.json() == wrong.json()


class TestOrigins:
    @pytest.mark.parametrize("path", [TOTP, BACKUP, SEND, VERIFY, SKIP, SET_UP, SET_UP_VERIFY, SET_UP_CODES])
    def test_case_MT34_other_origins_are_refused(self, acme, path):
        answer = acme.browser().post(path, json={}, headers={"Origin": "https://elsewhere.example"})

        assert (answer.status_code, answer.json()["result"]) == (403, "")

    @pytest.mark.parametrize("path", [TOTP, BACKUP, SEND, VERIFY, SKIP, SET_UP, SET_UP_VERIFY])
    def test_another_content_type_is_refused(self, acme, path):
        answer = acme.browser().post(path, data={"code": "1"})

        assert (answer.status_code, answer.json()["result"]) == (415, "")

    def test_next_tells_nobody_anything(self, acme):
        assert acme.browser().get(NEXT).json()["result"] == {"step": "sign_in"}
