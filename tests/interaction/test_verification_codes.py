"""POST /api/interaction/verification-code and verify-code: proving an email or a phone."""

import time
from datetime import timedelta
from typing import Any

import httpx
import pytest

from audit.models import Entry
from identity.core import expiry
from identity.limits.models import Counter
from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from interaction.connectors import services as connectors
from interaction.connectors.models import Connector
from interaction.verification.models import OutgoingMessage
from tests.support import codes
from tests.support.cast import Browser, World, query_of
from tests.support.codes import SEND, VERIFY, about, enter, new_email, new_phone, other_than, send, sent
from tests.support.sign_in_api import Refusal, find_refusal, refusal_message
from tests.support.threads import at_once, rounds, wait_until


def entries(world: World, key: str) -> list[dict[str, Any]]:
    found = Entry.objects.filter(tenant_id=world.tenant.pk, key=key).order_by("created_at", "pk")
    return [entry.payload for entry in found]


class TestSigningIn:
    @pytest.mark.parametrize("kind", ["email", "phone"])
    def test_signs_the_browser_in(self, reachable, kind):
        to = new_email() if kind == "email" else new_phone()
        user, browser = reachable.user(**{kind: to}), reachable.browser()

        answer = enter(browser, to, sent(browser, to))

        assert answer.json()["result"] == {"redirect_to": f"/t/{reachable.tenant.slug}/account"}
        assert browser.get("/account").status_code == 200
        with reachable.active():
            session = Session.objects.get()
            after = User.objects.get()
        assert (session.user_id, session.amr) == (user.pk, ["otp"] if kind == "email" else ["otp", "sms"])
        assert getattr(after, f"{kind}_verified") is True
        assert after.login_count == 1

    def test_decision_X5_says_how_long_the_code_is_good(self, reachable):
        answer = send(reachable.browser(), new_email())

        assert answer.json() == {"code": 0, "message": "success", "result": {"expires_in": 300}}
        assert answer.headers["Cache-Control"] == "no-store"

    def test_case_I17_is_six_digits_that_are_stored_as_a_hash(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)

        code = sent(browser, to)

        assert len(code) == 6
        assert code.isascii()
        assert code.isdigit()
        (row,) = codes.rows_of(reachable)
        assert code not in str(vars(row))
        enter(browser, to, code)
        written = Entry.objects.filter(tenant_id=reachable.tenant.pk).values_list("payload", flat=True)
        assert not [payload for payload in written if code in str(payload)]

    def test_decision_X1_goes_on_with_the_request_that_waits(self, reachable):
        client, to, browser = reachable.application(), new_email(), reachable.browser()
        reachable.user(email=to)
        first = query_of(browser.authorize(client).headers["Location"])["interaction"]
        browser.authorize(client)

        answer = enter(browser, to, sent(browser, to), interaction=first)

        back = browser.get(answer.json()["result"]["redirect_to"])
        assert "code" in query_of(back.headers["Location"])
        (entry,) = Entry.objects.filter(tenant_id=reachable.tenant.pk, key="SignIn.VerificationCode")
        assert entry.application_id == str(client.application.pk)

    def test_the_id_token_says_how(self, reachable):
        to, browser = new_email(), reachable.browser()
        user, client = reachable.user(email=to), reachable.application()
        enter(browser, to, sent(browser, to))

        tokens = client.redeem(query_of(browser.authorize(client).headers["Location"])["code"]).json()
        claims = client.userinfo(tokens["access_token"]).json()

        assert claims["sub"] == str(user.pk)
        assert claims["email_verified"] is True

    def test_decision_X3_suspension_is_told_after_the_right_code_only(self, reachable):
        to, browser = new_email(), reachable.browser()
        user = reachable.user(email=to)
        with reachable.active():
            users.suspend(user)
        code = sent(browser, to)

        wrong, right = enter(browser, to, other_than(code)), enter(browser, to, code)

        assert find_refusal(wrong) == Refusal(400)
        assert refusal_message(right, 403) == "this account is suspended"
        with reachable.active():
            assert not Session.objects.exists()

    def test_case_I26_an_account_made_with_anothers_address_does_not_lie_in_wait(self, reachable):
        victims, attacker, victim = new_email(), reachable.browser(), reachable.browser()
        registered = attacker.post(
            codes.REGISTER, json={"username": "mallory", "email": victims, "password": "a password 1"}
        )
        assert registered.status_code == 200, registered.text
        assert attacker.get("/account").status_code == 200

        enter(victim, victims, sent(victim, victims))

        again = reachable.browser().post(
            "/api/interaction/sign-in", json={"identifier": "mallory", "password": "a password 1"}
        )
        assert victim.get("/account").status_code == 200
        assert attacker.get("/account").status_code == 303
        assert find_refusal(again) == Refusal(401)

    def test_an_account_that_an_administrator_made_keeps_its_password(self, reachable):
        to, browser = new_email(), reachable.browser()
        user = reachable.user(email=to)

        enter(browser, to, sent(browser, to))

        assert reachable.browser().sign_in(user).status_code == 200

    def test_another_spelling_is_sent_to_the_address_of_the_account(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        shouted = to.upper()

        answer = send(browser, shouted)

        assert answer.status_code == 200, answer.text
        assert enter(browser, to, codes.message_to(to)["code"]).status_code == 200
        assert codes.messages_to(shouted) == []


class TestTooOften:
    def test_decision_X5_a_minute_lies_between_two(self, reachable):
        to = new_email()
        first, second = send(reachable.browser(), to), send(reachable.browser(), to.upper())

        assert first.status_code == 200
        assert "recently" in refusal_message(second, 400)
        assert 0 < int(second.headers["Retry-After"]) <= 61
        assert len(codes.rows_of(reachable)) == 1

    def test_decision_N11_each_purpose_has_its_own(self, reachable):
        to, browser = new_email(), reachable.browser()

        assert send(browser, to, "sign_in").status_code == 200
        assert send(browser, to, "forgot_password").status_code == 200

    def test_other_identifiers_do_not(self, reachable):
        browser = reachable.browser()

        assert [send(browser, new_email()).status_code for _ in range(3)] == [200] * 3

    def test_decision_X5_ten_an_hour(self, reachable):
        to, browser = new_email(), reachable.browser()
        statuses = []
        for _ in range(11):
            with reachable.active():
                Counter.objects.filter(kind="code pause").delete()
            statuses.append(send(browser, to).status_code)

        assert statuses == [200] * 10 + [400]

    def test_tenants_count_apart(self, reachable, rival):
        codes.reachable(rival)
        to = new_email()

        assert [send(world.browser(), to).status_code for world in (reachable, rival)] == [200, 200]

    @pytest.mark.parametrize("turn", range(rounds(1)))
    def test_case_M15_twenty_at_once_are_one_message(self, reachable, turn):
        to = new_email()

        def work(_: int) -> int:
            return httpx.post(f"{reachable.address}{SEND}", json=about(to)).status_code

        reachable.user(email=to)

        assert sorted(at_once(20, work)) == [200] + [400] * 19
        assert len(codes.rows_of(reachable)) == 1
        codes.message_to(to)
        with reachable.active():
            assert wait_until(lambda: not OutgoingMessage.objects.exists()), "none waits"
        assert len(codes.messages_to(to)) == 1


class TestChannels:
    @pytest.mark.parametrize("kind", ["email", "phone"])
    def test_decision_X7_without_a_connector_it_is_400_for_anybody(self, acme, kind):
        to = new_email() if kind == "email" else new_phone()
        acme.user(**{kind: to})

        messages = {refusal_message(send(acme.browser(), who), 400) for who in (to,)}

        channel = "email" if kind == "email" else "sms"
        assert messages == {f"no {channel} connector is enabled, so no message can be sent"}
        assert codes.rows_of(acme) == []

    def test_decision_X7_a_disabled_connector_is_none(self, reachable):
        with reachable.active():
            Connector.objects.update(enabled=False)

        assert find_refusal(send(reachable.browser(), new_email())) == Refusal(400)

    @pytest.mark.parametrize("purpose", ["sign_in", "forgot_password"])
    def test_decision_X7_a_channel_whose_identifier_is_off_is_400(self, reachable, purpose):
        codes.experience(
            reachable,
            sign_in={"methods": [{"identifier": "phone", "password": False, "verification_code": True}]},
        )
        to, browser = new_email(), reachable.browser()

        assert find_refusal(send(browser, to, purpose)) == Refusal(400)
        assert find_refusal(enter(browser, to, "123456", purpose)) == Refusal(400)
        assert send(browser, new_phone(), purpose).status_code == 200

    def test_decision_X3_codes_that_are_off_are_400_to_sign_in(self, reachable):
        codes.experience(
            reachable,
            sign_in={"methods": [{"identifier": "email", "password": True, "verification_code": False}]},
        )

        assert find_refusal(send(reachable.browser(), new_email())) == Refusal(400)
        assert send(reachable.browser(), new_email(), "forgot_password").status_code == 200

    def test_case_I24_a_method_that_went_off_after_the_code_was_sent_is_400(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        codes.experience(reachable, sign_in={"methods": []})

        assert find_refusal(enter(browser, to, code)) == Refusal(400)

    def test_case_I25_codes_to_register_are_for_identifiers_that_one_registers_with(self, reachable):
        browser = reachable.browser()
        before = send(browser, new_email(), "register")
        codes.experience(reachable, sign_up={"identifiers": ["email"]})

        assert find_refusal(before) == Refusal(400)
        assert send(browser, new_email(), "register").status_code == 200


class TestNextStep:
    @pytest.mark.parametrize("purpose", ["register", "forgot_password"])
    def test_decision_X5_signs_nobody_in(self, reachable, purpose):
        codes.experience(reachable, sign_up={"identifiers": ["email"], "verify": True})
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)

        answer = enter(browser, to, sent(browser, to, purpose), purpose)

        page = purpose.replace("_", "-")
        assert answer.json()["result"] == {"redirect_to": f"/t/{reachable.tenant.slug}/{page}"}
        with reachable.active():
            assert not Session.objects.exists()

    def test_decision_X5_the_next_page_keeps_the_request_that_waits(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        interaction = query_of(browser.authorize(reachable.application()).headers["Location"])["interaction"]

        answer = enter(browser, to, sent(browser, to, "forgot_password"), "forgot_password")

        assert query_of(answer.json()["result"]["redirect_to"]) == {"interaction": interaction}


class TestAudit:
    def test_decision_A1_sending_and_verifying_leave_entries(self, reachable):
        to, browser = new_email(), reachable.browser()
        reachable.user(email=to)
        code = sent(browser, to)
        enter(browser, to, other_than(code))
        enter(browser, to, code)

        facts = {"identifier": to, "identifier_type": "email", "interaction_type": "sign_in"}
        wrong = {"result": "failed", "error": "wrong_code"}
        assert entries(reachable, "VerificationCode.Send") == [facts | {"result": "success"}]
        assert entries(reachable, "VerificationCode.Verify") == [
            facts | wrong,
            facts | {"result": "success"},
        ]
        failed, succeeded = entries(reachable, "SignIn.VerificationCode")
        assert failed == {"username": to} | wrong
        assert succeeded["result"] == "success"


class TestBadInput:
    @pytest.mark.parametrize("path", [SEND, VERIFY, codes.REGISTER, codes.RESET])
    @pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'{"identifier": "\\ud800"}'], ids=repr)
    def test_decision_H3_what_is_no_json_object_is_400(self, acme, path, body):
        answer = acme.post(path, content=body, headers={"Content-Type": "application/json"})

        assert find_refusal(answer) == Refusal(400)

    @pytest.mark.parametrize("path", [SEND, VERIFY, codes.REGISTER, codes.RESET])
    def test_case_J03_forms_and_foreign_pages_are_refused(self, acme, path):
        form = acme.post(path, data={"identifier": "a@example.com"})
        foreign = acme.post(path, json={}, headers={"Origin": "https://evil.example"})
        sibling = acme.post(path, json={}, headers={"Sec-Fetch-Site": "same-site"})

        assert find_refusal(form) == Refusal(415)
        assert find_refusal(foreign) == Refusal(403)
        assert find_refusal(sibling) == Refusal(403)

    @pytest.mark.parametrize("path", [SEND, VERIFY, codes.REGISTER, codes.RESET])
    def test_decision_H3_another_method_is_405(self, acme, path):
        assert find_refusal(acme.get(path)) == Refusal(405)

    @pytest.mark.parametrize("field", ["identifier", "identifier_type", "interaction_type", "code"])
    @pytest.mark.parametrize("value", [None, [], {}, True, "", "nonsense\n", 7], ids=repr)
    def test_case_L03_a_field_of_another_kind_is_400(self, reachable, field, value):
        body = about(new_email(), code="123456") | {field: value}

        assert find_refusal(reachable.post(VERIFY, json=body)) == Refusal(400)
        if field != "code":
            assert find_refusal(reachable.post(SEND, json=body)) == Refusal(400)

    @pytest.mark.parametrize(
        ("kind", "identifier"),
        [
            ("email", "alice"),
            ("email", "+4915112345678"),
            ("email", "a@b"),
            ("email", "a@example.com\u2028Bcc: b@example.com"),
            ("email", "x" * 300 + "@example.com"),
            pytest.param("email", "a@" + ".".join(["\ufdfa" * 20] * 3) + ".de", id="long in NFKC"),
            ("phone", "alice@example.com"),
            ("phone", "1234"),
            ("phone", "1" * 16),
            ("username", "alice"),
        ],
    )
    def test_an_identifier_of_another_kind_is_400_and_named(self, reachable, kind, identifier):
        body = about(identifier) | {"identifier_type": kind}

        assert refusal_message(reachable.post(SEND, json=body), 400).startswith("identifier")
        assert codes.rows_of(reachable) == []

    def test_a_purpose_of_another_page_is_400(self, reachable):
        assert find_refusal(send(reachable.browser(), new_email(), "change")) == Refusal(400)

    def test_an_unknown_interaction_is_400(self, reachable):
        browser = reachable.browser()

        assert find_refusal(send(browser, new_email(), interaction="0" * 36)) == Refusal(400)
        assert find_refusal(enter(browser, new_email(), "1", interaction="nonsense")) == Refusal(400)


def test_every_message_is_erased_once_it_was_sent(reachable):
    to, browser = new_email(), reachable.browser()
    reachable.user(email=to)

    enter(browser, to, sent(browser, to))
    send(browser, new_email())

    for _ in range(200):
        with reachable.active():
            if not OutgoingMessage.objects.exists():
                return
        time.sleep(0.02)
    raise AssertionError("messages stay behind")


def test_codes_that_are_long_over_are_forgotten(reachable):
    browser = reachable.browser()
    send(browser, new_email())
    codes.age(reachable, expires_at=timedelta(hours=2))

    send(browser, new_email())
    expiry.purge_some(batches=100)

    assert len(codes.rows_of(reachable)) == 1


def test_decision_T2_a_connector_of_another_tenant_carries_nothing(acme, rival):
    with rival.active():
        connectors.create(connector_id="outbox-email", type="Email", config={}, enabled=True, is_proven=True)

    assert find_refusal(send(Browser(acme), new_email())) == Refusal(400)
