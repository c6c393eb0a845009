"""POST /api/interaction/forgot-password: a new password after the code was entered."""

import httpx
import pytest

from audit.models import Entry
from database.clock import seconds_ahead
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from interaction.verification.models import VerificationCode
from tests.support import codes
from tests.support.cast import PASSWORD
from tests.support.codes import RESET, new_email, new_phone
from tests.support.sign_in_api import Refusal, find_refusal, refusal_message
from tests.support.threads import at_once, rounds

NEW = "another password 2"


def reset(browser, identifier, password=NEW, **fields):
    return browser.post(RESET, json={"identifier": identifier, "new_password": password} | fields)


class TestSuccess:
    @pytest.mark.parametrize("kind", ["email", "phone"])
    def test_sets_the_password(self, reachable, kind):
        to = new_email() if kind == "email" else new_phone()
        user, browser = reachable.user(**{kind: to}), reachable.browser()
        codes.proven(browser, to, "forgot_password")

        answer = reset(browser, to)

        assert answer.json() == {"code": 0, "message": "success", "result": None}
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers
        tries = [reachable.browser().sign_in(user, password) for password in (PASSWORD, NEW)]
        assert [answer.status_code for answer in tries] == [401, 200]
        with reachable.active():
            assert getattr(User.objects.get(), f"{kind}_verified") is True

    def test_decision_I5_case_D10_E15_ends_sessions_and_refresh_tokens(self, reachable):
        to, browser, elsewhere = new_email(), reachable.browser(), reachable.browser()
        user, client = reachable.user(email=to), reachable.application()
        tokens = client.tokens_for(user, elsewhere)
        assert elsewhere.get("/account").status_code == 200
        codes.proven(browser, to, "forgot_password")

        reset(browser, to)

        assert elsewhere.get("/account").status_code == 303
        assert client.refresh(tokens["refresh_token"]).json()["error"] == "invalid_grant"
        assert client.userinfo(tokens["access_token"]).status_code == 401

    def test_case_I21_nobody_is_let_in_again_by_it(self, reachable):
        to, browser = new_email(), reachable.browser()
        user = reachable.user(email=to)
        with reachable.active():
            users.suspend(user)
        codes.proven(browser, to, "forgot_password")

        assert reset(browser, to).status_code == 200

        assert find_refusal(reachable.browser().sign_in(user, NEW)) == Refusal(403)

    def test_decision_A1_leaves_entries(self, reachable):
        to, browser = new_email(), reachable.browser()
        user = reachable.user(email=to)
        reset(browser, to)
        codes.proven(browser, to, "forgot_password")
        reset(browser, to)

        failed, done = Entry.objects.filter(tenant_id=reachable.tenant.pk, key="ForgotPassword").order_by(
            "created_at"
        )
        assert failed.payload["username"].startswith("hash:")
        assert (failed.payload["result"], failed.payload["error"]) == ("failed", "not_verified")
        assert done.payload == {"username": to, "result": "success"}
        assert (failed.user_id, done.user_id) == (None, str(user.pk))

    def test_signs_nobody_in(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")

        reset(browser, to)

        with reachable.active():
            assert not Session.objects.exists()


class TestRefusal:
    def test_case_I19_without_a_code_it_is_the_same_400_for_anybody(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user("ada", email=to)
        codes.send(browser, new_email())

        answers = [reset(browser, who) for who in (to, new_email(), "ada", "nobody", "+4900000000")]

        assert len({refusal_message(answer, 400) for answer in answers}) == 1

    def test_case_I19_the_proof_of_another_identifier_is_400(self, reachable):
        mine, yours, browser = new_email(), new_email(), reachable.browser()
        reachable.user("ada", email=mine)
        reachable.user(email=yours)
        codes.proven(browser, mine, "forgot_password")

        assert find_refusal(reset(browser, yours)) == Refusal(400)
        assert find_refusal(reset(browser, "ada")) == Refusal(400)

    def test_case_I19_a_sign_in_is_no_proof(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        codes.proven(browser, to, "sign_in")

        assert find_refusal(reset(browser, to)) == Refusal(400)

    @pytest.mark.parametrize(("seconds", "status"), [(595, 200), (601, 400)])
    def test_case_I19_is_good_for_ten_minutes(self, reachable, seconds, status):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")
        with reachable.active():
            VerificationCode.objects.update(used_at=seconds_ahead(-seconds))

        assert reset(browser, to).status_code == status

    def test_case_I19_twice_is_400(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")

        assert [reset(browser, to).status_code for _ in range(2)] == [200, 400]

    @pytest.mark.parametrize("turn", range(rounds(1)))
    def test_case_M04_of_two_passwords_at_once_one_wins_and_counts(self, reachable, turn):
        to, browser = new_email(), reachable.browser()
        user = reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")
        cookies = dict(browser.http.cookies)

        def work(index: int) -> int:
            body = {"identifier": to, "new_password": f"{NEW}{index}"}
            with httpx.Client(cookies=cookies) as http:
                return http.post(f"{reachable.address}{RESET}", json=body).status_code

        answers = at_once(4, work)

        assert sorted(answers) == [200, 400, 400, 400]
        signed_in = [reachable.browser().sign_in(user, f"{NEW}{n}").status_code for n in range(4)]
        assert signed_in == [200 if answer == 200 else 401 for answer in answers]

    def test_case_I20_from_another_browser_is_400(self, reachable):
        to, browser, other = new_email(), reachable.browser(), reachable.browser()
        user = reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")
        codes.send(other, new_email())

        assert find_refusal(reset(other, to)) == Refusal(400)
        assert find_refusal(reset(reachable.browser(), to)) == Refusal(400)
        assert reachable.browser().sign_in(user).status_code == 200

    def test_another_tenants_account_is_left_alone(self, reachable, rival):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        theirs = rival.user(email=to)
        codes.proven(browser, to, "forgot_password")
        reset(browser, to)
        cookie = browser.http.cookies[f"gatehouse-browser.{reachable.tenant.slug}"]

        answer = rival.post(
            RESET,
            json={"identifier": to, "new_password": NEW},
            headers={"Cookie": f"gatehouse-browser.{rival.tenant.slug}={cookie}"},
        )

        assert find_refusal(answer) == Refusal(400)
        assert rival.browser().sign_in(theirs).status_code == 200

    def test_a_weak_password_is_400_and_wastes_nothing(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        codes.proven(browser, to, "forgot_password")

        weak, own = reset(browser, to, "SHORT"), reset(browser, to, to)

        assert refusal_message(weak, 400) == (
            "new_password: must have at least 8 characters, have a lower-case letter, have a digit"
        )
        assert refusal_message(own, 400).startswith("new_password: ")
        assert reset(browser, to).status_code == 200

    @pytest.mark.parametrize(
        ("field", "value"),
        [("identifier", None), ("identifier", []), ("new_password", None), ("new_password", "x" * 257)],
    )
    def test_a_field_that_is_not_right_is_400_and_named(self, acme, field, value):
        body = {"identifier": "a@example.com", "new_password": NEW} | {field: value}

        assert refusal_message(acme.post(RESET, json=body), 400).startswith(f"{field}: ")
