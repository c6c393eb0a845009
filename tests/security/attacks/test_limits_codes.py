"""AV13, AV14: codes that kept their owner from having any, and codes guessed across many people."""

from datetime import UTC, datetime, timedelta

import httpx
import pytest

from audit.models import Entry
from identity.limits.models import Counter
from tests.support import codes
from tests.support.cast import Browser, World
from tests.support.codes import new_email, new_phone
from tests.support.forms import form, forms
from tests.support.threads import at_once

ATTACKER, OWNER = "192.0.2.1", "198.51.100.1"
METRICS = "a token for the tests of metrics, long enough"
WRONG_OF_NETWORK, WRONG_OF_IDENTIFIER, WRONG_OF_TENANT = 12, 6, 20
SERVER = {
    "METRICS_TOKEN": METRICS,
    "LIMIT_ADDRESS_WRONG_CODES": str(WRONG_OF_NETWORK),
    "LIMIT_IDENTIFIER_WRONG_CODES": str(WRONG_OF_IDENTIFIER),
    "LIMIT_TENANT_WRONG_CODES": str(WRONG_OF_TENANT),
}


def send(browser: Browser, to: str, ip: str, purpose: str = "sign_in") -> httpx.Response:
    headers = {"X-Forwarded-For": ip}
    return browser.post(codes.SEND, json=codes.about(to, purpose), headers=headers)


def enter(browser: Browser, to: str, code: str, ip: str, purpose: str = "sign_in") -> httpx.Response:
    headers = {"X-Forwarded-For": ip}
    return browser.post(codes.VERIFY, json=codes.about(to, purpose, code=code), headers=headers)


def spray(world: World, times: int, *, to: str = "", ip: str = "") -> list[int]:
    """Wrong codes: for one person or for many, from one network or from many."""
    browser, found = world.browser(), []
    for number in range(times):
        address = ip or f"203.0.113.{number}"
        found.append(enter(browser, to or new_email(), "000000", address).status_code)
    return found


def forget_pauses(world: World) -> None:
    with world.active():
        Counter.objects.filter(kind="code pause").delete()


def spellings(phone: str) -> list[str]:
    return [phone, phone.replace("+", "00")]


class TestKeepingOnePersonOut:
    @pytest.mark.parametrize("purpose", ["sign_in", "forgot_password"])
    def test_attack_AV13_a_code_asked_for_elsewhere_once_a_minute(self, world, purpose):
        to = new_email()
        world.user(email=to)
        assert send(world.browser(), to, ATTACKER).status_code == 200

        owner = world.browser()
        asked = send(owner, to, OWNER, purpose)

        assert asked.status_code == 200
        code = codes.message_to(to, number=2)["code"]
        assert enter(owner, to, code, OWNER, purpose).status_code == 200

    def test_attack_AV13_ten_an_hour_from_elsewhere(self, world):
        to = new_email()
        world.user(email=to)
        statuses = []
        for _ in range(11):
            statuses.append(send(world.browser(), to, ATTACKER).status_code)
            forget_pauses(world)

        assert statuses == [200] * 10 + [400]
        assert send(world.browser(), to, OWNER).status_code == 200

    def test_decision_N11_the_pause_counts_per_identifier_purpose_and_network(self, world):
        to, browser = new_email(), world.browser()
        answers = [
            send(browser, to, ATTACKER),
            send(browser, to, ATTACKER),
            send(browser, to, ATTACKER, "forgot_password"),
            send(browser, to, OWNER),
            send(browser, new_email(), ATTACKER),
        ]

        assert [answer.status_code for answer in answers] == [200, 400, 200, 200, 200]
        assert 0 < int(answers[1].headers["Retry-After"]) <= 61

    def test_attack_AV13_two_spellings_of_a_phone_get_one_code(self, world):
        to = new_phone()
        world.user(phone=to)

        asked = [send(world.browser(), spelling, ATTACKER) for spelling in spellings(to)]

        assert [answer.status_code for answer in asked] == [200, 400]
        assert send(world.browser(), spellings(new_phone())[1], ATTACKER).status_code == 200

    def test_decision_N11_a_dropped_cookie_does_not_reset_it(self, world):
        to = new_email()

        assert [send(world.browser(), to, ATTACKER).status_code for _ in range(3)] == [200, 400, 400]

    def test_decision_N11_thirty_codes_an_hour_over_all_networks(self, world):
        to = new_email()
        world.user(email=to)

        def ask(number: int) -> httpx.Response:
            return send(world.browser(), to, f"203.0.113.{number}")

        answers = at_once(34, ask)

        assert sorted(answer.status_code for answer in answers) == [200] * 30 + [400] * 4
        refused = [answer for answer in answers if answer.status_code == 400]
        assert all(3500 < int(answer.headers["Retry-After"]) <= 3601 for answer in refused)

    def test_attack_AV13_the_owners_browser_gets_a_code_beyond_the_thirty(self, world):
        to, owner = new_email(), world.browser()
        world.user(email=to)
        send(owner, to, OWNER)
        assert enter(owner, to, codes.message_to(to)["code"], OWNER).status_code == 200
        for number in range(29):
            assert send(world.browser(), to, f"203.0.113.{number}").status_code == 200
        forget_pauses(world)

        assert send(world.browser(), to, OWNER).status_code == 400
        assert send(owner, to, OWNER).status_code == 200

    @pytest.mark.parametrize("has_owner", [False, True])
    def test_attack_browsers_that_know_an_account_i_made_with_your_address(self, world, has_owner):
        """I register with your address, keep the browser, and fill your mailbox beyond the ceiling."""
        to, password = new_email(), "Attack3rpass!"
        attacker = world.browser()
        fields = {"username": "mallory", "email": to, "password": password}
        assert attacker.post(codes.REGISTER, json=fields).status_code == 200
        for number in range(30 - has_owner):
            assert send(world.browser(), to, f"203.0.113.{number}").status_code == 200
        if has_owner:
            owner = world.browser()
            assert send(owner, to, OWNER).status_code == 200
            assert enter(owner, to, codes.message_to(to, number=30)["code"], OWNER).status_code == 200

        assert send(attacker, to, ATTACKER).status_code == 400

    def test_decision_N11_nobody_is_treated_like_somebody(self, world):
        known, unknown = new_email(), new_email()
        world.user(email=known)
        answers: dict[str, list[tuple[int, bytes, set[str]]]] = {known: [], unknown: []}
        for to, found in answers.items():
            browser = world.browser()
            for number in range(32):
                answer = send(browser, to, f"203.0.113.{number}")
                seconds = answer.headers.get("Retry-After", "")
                found.append((answer.status_code, answer.content.replace(seconds.encode(), b"")
                              if seconds else answer.content, set(answer.headers)))  # fmt: skip

        assert answers[known][1:] == answers[unknown][1:]


class TestSpraying:
    def test_attack_AV14_many_people_from_one_address(self, world):
        assert spray(world, WRONG_OF_NETWORK + 3, ip=ATTACKER) == [400] * WRONG_OF_NETWORK + [429] * 3

        refused = enter(world.browser(), new_email(), "000000", ATTACKER)
        assert 3500 < int(refused.headers["Retry-After"]) <= 3601
        assert spray(world, 1, ip=OWNER) == [400]

    def test_attack_AV14_also_all_at_once_and_for_every_purpose(self, world):
        def guess(number: int) -> int:
            purpose = ("sign_in", "forgot_password")[number % 2]
            return enter(world.browser(), new_email(), "000000", ATTACKER, purpose).status_code

        statuses = at_once(WRONG_OF_NETWORK + 6, guess)

        assert sorted(statuses) == [400] * WRONG_OF_NETWORK + [429] * 6

    def test_decision_N11_right_codes_do_not_count(self, world):
        for number in range(WRONG_OF_NETWORK + 2):
            to, browser = new_email(), world.browser()
            world.user(email=to)
            send(browser, to, OWNER)
            code = codes.message_to(to)["code"]
            assert enter(browser, to, code, OWNER).status_code == 200, number

        assert spray(world, 1, ip=OWNER) == [400]

    def test_attack_AV14_one_person_all_day(self, world):
        """After twenty wrong codes, a guess at the next code is one in 2⁵⁰ instead of one in 10⁶."""
        to, owner = new_email(), world.browser()
        world.user(email=to)
        spray(world, WRONG_OF_IDENTIFIER, to=to)

        assert send(owner, to, OWNER).status_code == 200
        code = codes.message_to(to)["code"]
        assert (len(code), code.isalnum(), code.isdigit()) == (10, True, False)
        assert spray(world, 3, to=to) == [400] * 3, "nobody is refused"
        typed = f" {code[:5].lower()}-{code[5:].replace('0', 'o').replace('1', 'l')} "
        assert enter(owner, to, typed, OWNER).status_code == 200

    def test_attack_AV14_one_person_with_two_spellings(self, world):
        to, zeros = spellings(new_phone())
        world.user(phone=to)
        for spelling in (to, zeros):
            spray(world, WRONG_OF_IDENTIFIER // 2, to=spelling)

        assert send(world.browser(), to, OWNER).status_code == 200
        assert len(codes.message_to(to)["code"]) == 10

    def test_decision_N11_until_the_next_day(self, world):
        to = new_email()
        world.user(email=to)
        spray(world, WRONG_OF_IDENTIFIER, to=to)
        with world.active():
            days = Counter.objects.filter(kind="wrong codes of identifier")
            left = days.get().ends_at - datetime.now(UTC)
            assert timedelta(hours=23) < left <= timedelta(hours=24)
            days.update(ends_at=datetime.now(UTC))

        send(world.browser(), to, OWNER)

        assert codes.message_to(to)["code"].isdigit()

    def test_decision_N11_the_page_takes_letters(self, world):
        to, browser, headers = new_email(), world.browser(), {"X-Forwarded-For": OWNER}
        world.user(email=to)
        spray(world, WRONG_OF_IDENTIFIER, to=to)
        page = form(browser.get("/sign-in/code", headers=headers))

        entry = browser.post("/sign-in/code", data=page.fields | {"identifier": to}, headers=headers)
        fields = forms(entry)[0].fields | {"code": codes.message_to(to)["code"].lower()}
        signed_in = browser.post("/sign-in/code", data=fields, headers=headers)

        assert 'inputmode="text"' in entry.text
        assert 'autocomplete="one-time-code"' in entry.text
        assert "10 letters and digits" in entry.text
        assert signed_in.status_code == 303

    def test_the_page_asks_for_digits_otherwise(self, world):
        browser, headers = world.browser(), {"X-Forwarded-For": OWNER}
        page = form(browser.get("/sign-in/code", headers=headers))

        entry = browser.post("/sign-in/code", data=page.fields | {"identifier": new_email()}, headers=headers)

        assert 'inputmode="numeric"' in entry.text
        assert "10 letters and digits" not in entry.text

    def test_decision_N11_a_tenant_has_a_budget_with_an_alarm(self, guarded, world):
        before = alarms(guarded)
        spray(world, WRONG_OF_TENANT + 5)

        told = Entry.objects.filter(tenant_id=world.tenant.pk, key="VerificationCode.Alarm")
        assert [entry.payload for entry in told] == [{"count": WRONG_OF_TENANT, "seconds": 3600}]
        assert alarms(guarded) == before + 1
        # Everybody's codes are long until the hour ends, and nobody is refused.
        to = new_phone()
        world.user(phone=to)
        assert send(world.browser(), to, OWNER).status_code == 200
        assert len(codes.message_to(to)["code"]) == 10

    def test_the_alarm_is_of_one_tenant(self, guarded, world, rival):
        spray(world, WRONG_OF_TENANT)
        other = codes.reachable(rival.at(guarded))
        to = new_email()
        other.user(email=to)

        send(other.browser(), to, OWNER)

        assert codes.message_to(to)["code"].isdigit()


def alarms(server: str) -> float:
    shown = httpx.get(f"{server}/metrics", headers={"Authorization": f"Bearer {METRICS}"})
    lines = [line for line in shown.text.splitlines() if line.startswith("gatehouse_wrong_code_alarms_total")]
    return sum(float(line.split()[-1]) for line in lines)
