"""What a verification code is bound to, and what the answer says of unknown addresses."""

from datetime import timedelta

import httpx
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from identity.sessions.models import Session
from tests.support import codes
from tests.support.codes import SEND, VERIFY, about, enter, new_email, new_phone, other_than, send, sent
from tests.support.sign_in_api import Refusal, find_refusal, refusal_message
from tests.support.threads import at_once, rounds


class TestWhatACodeIsBoundTo:
    def test_decision_X5_works_once(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)

        first, second = enter(browser, to, code), enter(browser, to, code)

        assert first.status_code == 200
        assert refusal_message(second, 400) == "code: wrong or expired"

    @pytest.mark.parametrize(("seconds", "status"), [(295, 200), (301, 400)])
    def test_case_I16_is_good_for_300_seconds(self, reachable, seconds, status):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        codes.age(reachable, expires_at=timedelta(seconds=seconds))

        assert enter(browser, to, code).status_code == status

    def test_case_I11_five_wrong_ones_burn_it(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)

        for _ in range(5):
            assert find_refusal(enter(browser, to, other_than(code))) == Refusal(400)

        assert find_refusal(enter(browser, to, code)) == Refusal(400)

    def test_four_wrong_ones_do_not(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)

        for _ in range(4):
            enter(browser, to, other_than(code))

        assert enter(browser, to, code).status_code == 200

    def test_case_I13_another_purpose_is_400(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)

        other = enter(browser, to, code, "forgot_password")

        assert find_refusal(other) == Refusal(400)
        assert enter(browser, to, code).status_code == 200

    def test_case_I14_another_identifier_is_400(self, reachable):
        one, two, browser = new_email(), new_email(), reachable.browser()
        reachable.user(email=one, phone="+4915100000001")
        reachable.user(email=two)
        code = sent(browser, one)

        assert find_refusal(enter(browser, two, code)) == Refusal(400)
        assert find_refusal(enter(browser, "+4915100000001", code)) == Refusal(400)

    def test_case_I15_another_browser_is_400(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        stranger = reachable.browser()
        send(stranger, new_email())

        assert find_refusal(enter(stranger, to, code)) == Refusal(400)
        assert find_refusal(enter(reachable.browser(), to, code)) == Refusal(400)

    def test_case_G08_another_tenant_is_400(self, reachable, rival):
        codes.reachable(rival)
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        rival.user(email=to)
        code = sent(browser, to)
        cookie = browser.http.cookies[f"gatehouse-browser.{reachable.tenant.slug}"]

        answer = rival.post(
            VERIFY,
            json=about(to, code=code),
            headers={"Cookie": f"gatehouse-browser.{rival.tenant.slug}={cookie}"},
        )

        assert find_refusal(answer) == Refusal(400)

    def test_case_I12_the_newest_counts(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        first = sent(browser, to)
        codes.let_time_pass(reachable)
        second = sent(browser, to, number=2)

        old, new = enter(browser, to, first), enter(browser, to, second)

        assert old.status_code == (200 if first == second else 400)
        assert new.status_code == 200

    @pytest.mark.parametrize("dress", ["{}", " {} ", "{0[0]}{0[1]}{0[2]} {0[3]}{0[4]}{0[5]}"])
    def test_case_I18_white_space_does_not_count(self, reachable, dress):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)

        assert enter(browser, to, dress.format(code)).status_code == 200

    def test_case_I18_wide_digits_are_digits(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        wide = "".join(chr(ord(digit) + 0xFEE0) for digit in sent(browser, to))

        assert enter(browser, to, wide).status_code == 200

    @pytest.mark.parametrize("turn", range(rounds(1)))
    def test_case_I16_M03_twenty_at_once_are_one_sign_in(self, reachable, turn):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        cookies = dict(browser.http.cookies)

        def work(_: int) -> int:
            with httpx.Client(cookies=cookies) as http:
                answer = http.post(f"{reachable.address}{VERIFY}", json=about(to, code=code))
            return answer.status_code

        assert sorted(at_once(20, work)) == [200] + [400] * 19
        with reachable.active():
            assert Session.objects.count() == 1

    def test_case_I07_wrong_ones_at_once_are_counted_all(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        cookies = dict(browser.http.cookies)

        def work(_: int) -> int:
            with httpx.Client(cookies=cookies) as http:
                body = about(to, code=other_than(code))
                return http.post(f"{reachable.address}{VERIFY}", json=body).status_code

        assert set(at_once(8, work)) == {400}
        assert codes.rows_of(reachable)[0].tries == 5
        assert find_refusal(enter(browser, to, code)) == Refusal(400)


class TestUnknown:
    @pytest.mark.parametrize("purpose", ["sign_in", "forgot_password"])
    @pytest.mark.parametrize("kind", ["email", "phone"])
    def test_case_I09_nobody_learns_whether_an_account_exists(self, reachable, kind, purpose):
        known, unknown = (new_email(), new_email()) if kind == "email" else (new_phone(), new_phone())
        reachable.user(**{kind: known})
        browsers = [reachable.browser(), reachable.browser()]

        answers = [send(b, to, purpose) for b, to in zip(browsers, (known, unknown), strict=True)]
        codes.message_to(known)
        again = [send(b, to, purpose) for b, to in zip(browsers, (known, unknown), strict=True)]
        wrong = [enter(b, to, "x", purpose) for b, to in zip(browsers, (known, unknown), strict=True)]

        for pair in (answers, again, wrong):
            assert pair[0].content == pair[1].content
            assert [answer.status_code for answer in pair] == [pair[0].status_code] * 2
            assert set(pair[0].headers) == set(pair[1].headers)
        assert [answers[0].status_code, again[0].status_code, wrong[0].status_code] == [200, 400, 400]
        assert codes.messages_to(unknown) == []

    def test_decision_X5_costs_the_same_statements(self, reachable):
        known, unknown = new_email(), new_email()
        reachable.user(email=known)
        prefix = f"/t/{reachable.tenant.slug}"

        def shapes(to: str) -> list[list[str]]:
            found, http = [], Client()
            for path, body in ((SEND, about(to)), (VERIFY, about(to, code="x"))):
                with CaptureQueriesContext(connection) as captured:
                    http.post(prefix + path, body, content_type="application/json")
                found.append(
                    [
                        " ".join(sql.split()[:3])
                        for sql in (query["sql"] for query in captured)
                        # Savepoints have names of their own.
                        if not sql.startswith(("SAVEPOINT", "RELEASE"))
                    ]
                )
            return found

        shapes(new_email())

        assert shapes(known) == shapes(unknown)

    def test_decision_X5_its_code_never_verifies(self, reachable, monkeypatch):
        unknown = new_email()
        monkeypatch.setattr("secrets.randbelow", lambda _: 123456)
        http, prefix = Client(), f"/t/{reachable.tenant.slug}"
        http.post(prefix + SEND, about(unknown), content_type="application/json")

        answer = http.post(prefix + VERIFY, about(unknown, code="123456"), content_type="application/json")

        assert answer.status_code == 400
        assert [code.silent for code in codes.rows_of(reachable)] == [True]

    def test_a_user_of_another_tenant_is_nobody(self, reachable, rival):
        to = new_email()
        rival.user(email=to)

        send(reachable.browser(), to)

        assert codes.rows_of(reachable)[0].silent
        assert codes.rows_of(rival) == []
