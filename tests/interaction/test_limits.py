"""How guessing is stopped: locks of identifiers, and limits by address."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from audit.models import Entry
from identity.core import expiry, tenancy
from identity.limits.models import Counter
from management.administrators import services as administrators
from tests.support import codes, second
from tests.support.cast import PASSWORD, World
from tests.support.codes import new_email
from tests.support.forms import form
from tests.support.sign_in_api import Refusal, find_refusal, refusal_message
from tests.support.threads import at_once

SIGN_IN = "/api/interaction/sign-in"
_MINUTE = 61


@pytest.fixture(scope="module")
def guarded(address: str) -> Iterator[str]:
    """A server with small limits, behind a proxy that the tests are."""
    limits = {
        "LOCK_PAIR_FAILURES": "3",
        "LOCK_IDENTIFIER_FAILURES": "8",
        "LIMIT_ADDRESS_SIGN_INS": "12",
        "LIMIT_ADDRESS_REGISTRATIONS": "3",
        "LIMIT_ADDRESS_CODE_SENDS": "3",
        "LIMIT_TENANT_TEXT_MESSAGES": "4",
    }
    with second.running(TRUSTED_PROXIES="127.0.0.1", **limits) as address_:
        yield address_


@pytest.fixture
def world(guarded: str, acme: World) -> World:
    return replace(acme, address=f"{guarded}/t/{acme.tenant.slug}")


def attempt(world: World, identifier: str, password: str = "wrong", ip: str = "192.0.2.1") -> httpx.Response:
    return world.post(
        SIGN_IN,
        json={"identifier": identifier, "password": password},
        headers={"X-Forwarded-For": ip},
    )


def fail(world: World, identifier: str, times: int = 3, ip: str = "192.0.2.1") -> None:
    for _ in range(times):
        assert "Retry-After" not in attempt(world, identifier, ip=ip).headers


def waits(answer: httpx.Response, seconds: int) -> None:
    """Check that an answer says to come back after about so long."""
    assert seconds - 10 <= int(answer.headers["Retry-After"]) <= seconds


def counters(world: World, kind: str) -> Any:
    with world.active():
        return Counter.objects.filter(kind=kind)


def let_pass(world: World) -> None:
    """Let every lock of a tenant run out, but not what it remembers."""
    with world.active():
        Counter.objects.exclude(locked_until=None).update(
            locked_until=datetime.now(UTC) - timedelta(seconds=1)
        )


class TestPair:
    def test_decision_X6_the_right_password_is_the_same_401_then(self, world):
        world.user("ada")
        before = attempt(world, "ada")
        fail(world, "ada", 2)

        wrong, right = attempt(world, "ada"), attempt(world, "ada", PASSWORD)

        assert refusal_message(before, 401) == refusal_message(wrong, 401)
        assert before.content == wrong.content == right.content
        for answer in (wrong, right):
            waits(answer, _MINUTE)

    def test_case_I01_an_unknown_identifier_is_locked_likewise(self, world):
        world.user("ada")
        fail(world, "ada")
        fail(world, "nobody")

        known, unknown = attempt(world, "ada"), attempt(world, "nobody")

        assert known.content == unknown.content
        assert set(known.headers) == set(unknown.headers)
        waits(unknown, _MINUTE)

    def test_case_I05_another_address_gets_in(self, world):
        world.user("ada")
        fail(world, "ada")

        assert attempt(world, "ada", PASSWORD, ip="192.0.2.2").status_code == 200

    def test_another_identifier_gets_in(self, world):
        world.user("ada")
        fail(world, "bob")

        assert attempt(world, "ada", PASSWORD).status_code == 200

    def test_case_I04_spellings_share_it(self, world):
        world.user("ada")
        for spelling in ("ADA", "\uff41da", " ada "):
            attempt(world, spelling)

        waits(attempt(world, "Ada", PASSWORD), _MINUTE)

    def test_tenants_count_apart(self, guarded, world, rival):
        other = replace(rival, address=f"{guarded}/t/{rival.tenant.slug}")
        other.user("ada")
        fail(world, "ada")

        assert attempt(other, "ada", PASSWORD).status_code == 200

    def test_decision_X6_locks_for_twice_as_long_each_time(self, world):
        fail(world, "ada")
        seconds = []
        for _ in range(3):
            seconds.append(int(attempt(world, "ada").headers["Retry-After"]))
            let_pass(world)
            assert "Retry-After" not in attempt(world, "ada").headers

        assert [round(s / 60) for s in seconds] == [1, 2, 4]

    def test_an_hour_is_the_longest(self, world):
        fail(world, "ada")
        counters(world, "pair").update(count=40, locked_until=None)
        fail(world, "ada", 1)

        waits(attempt(world, "ada"), 3601)

    def test_after_it_the_right_password_opens_and_clears_it(self, world):
        world.user("ada")
        fail(world, "ada")
        let_pass(world)

        assert attempt(world, "ada", PASSWORD).status_code == 200
        fail(world, "ada", 3)

    def test_what_was_long_ago_does_not_count(self, world):
        world.user("ada")
        fail(world, "ada", 2)
        counters(world, "pair").update(ends_at=datetime.now(UTC) - timedelta(seconds=1))

        fail(world, "ada", 2)

        assert attempt(world, "ada", PASSWORD).status_code == 200

    def test_a_method_that_is_off_does_not_count(self, world):
        codes.experience(world, sign_in={"methods": []})

        for _ in range(5):
            assert find_refusal(attempt(world, "ada")) == Refusal(400)

    def test_case_I07_sixteen_guesses_at_once_are_three(self, world):
        world.user("ada")

        def guess(index: int):
            answer = attempt(world, "ada", f"guess {index}", ip="192.0.2.1")
            while answer.status_code == 503:  # no free place for a password now
                time.sleep(0.05)
                answer = attempt(world, "ada", f"guess {index}", ip="192.0.2.1")
            return answer

        answers = at_once(16, guess)

        told = Entry.objects.filter(tenant_id=world.tenant.pk, key="SignIn.Password")
        reasons = sorted(entry.payload["error"] for entry in told)
        # Those beyond twelve exceed the limit of the address, and do not count as attempts.
        assert reasons == ["invalid_credentials"] * 3 + ["locked"] * 9
        assert sorted(answer.status_code for answer in answers) == [401] * 12 + [429] * 4

    def test_right_ones_at_once_do_not_get_in_each_others_way(self, world):
        world.user("ada")
        fail(world, "ada", 1)

        for _ in range(4):
            statuses = at_once(2, lambda _: attempt(world, "ada", PASSWORD).status_code)
            assert statuses == [200, 200]

        assert list(counters(world, "pair").values_list("count", "locked_until")) == [(0, None)]
        assert list(counters(world, "identifier").values_list("count", flat=True)) == [1]

    def test_case_I08_only_the_proxys_own_word_counts(self, world):
        world.user("ada")
        for index in range(3):
            attempt(world, "ada", ip=f"203.0.113.{index}, 192.0.2.7")

        waits(attempt(world, "ada", PASSWORD, ip="192.0.2.7"), _MINUTE)

    def test_addresses_of_one_ipv6_network_are_one(self, world):
        world.user("ada")
        for index in range(3):
            attempt(world, "ada", ip=f"2001:db8:1:2::{index}")

        waits(attempt(world, "ada", PASSWORD, ip="2001:db8:1:2:ffff::1"), _MINUTE)
        assert attempt(world, "ada", PASSWORD, ip="2001:db8:1:3::1").status_code == 200

    def test_the_page_says_to_wait(self, world):
        world.user("ada")
        browser = world.browser()
        ip = {"X-Forwarded-For": "192.0.2.1"}
        fail(world, "ada")

        page = form(browser.get("/sign-in", headers=ip))
        filled = page.fields | {"identifier": "ada", "password": PASSWORD}
        answer = browser.post("/sign-in", data=filled, headers=ip)

        assert answer.status_code == 401
        waits(answer, _MINUTE)
        assert "Too many attempts. Try again in " in answer.text

    def test_a_code_still_lets_the_owner_in(self, world):
        codes.reachable(world)
        to, browser = new_email(), world.browser()
        world.user("ada", email=to)
        fail(world, to)

        assert codes.enter(browser, to, codes.sent(browser, to)).status_code == 200


class TestIdentifier:
    def test_decision_X6_is_locked_far_later_for_every_address(self, world):
        world.user("ada")
        for index in range(8):
            fail(world, "ada", 1, ip=f"192.0.2.{index}")

        waits(attempt(world, "ada", PASSWORD, ip="198.51.100.1"), _MINUTE)

    def test_decision_X6_the_victims_own_browser_gets_in_by_code(self, world):
        to = new_email()
        codes.reachable(world).user("ada", email=to)
        for index in range(8):
            fail(world, "ada", 1, ip=f"192.0.2.{index}")
            fail(world, to, 1, ip=f"192.0.2.{index}")
        for identifier in ("ada", to):
            waits(attempt(world, identifier, PASSWORD, ip="198.51.100.1"), _MINUTE)

        browser = world.browser()
        assert codes.send(browser, to).status_code == 200
        entered = codes.enter(browser, to, codes.message_to(to)["code"])

        assert entered.json()["result"]["redirect_to"]
        assert browser.get("/account").status_code == 200

    def test_case_I06_a_success_in_between_resets_nothing(self, world):
        world.user("ada")
        for index in range(7):
            fail(world, "ada", 1, ip=f"192.0.2.{index}")
        assert attempt(world, "ada", PASSWORD, ip="192.0.2.99").status_code == 200
        fail(world, "ada", 1, ip="192.0.2.8")

        waits(attempt(world, "ada", PASSWORD, ip="198.51.100.1"), _MINUTE)


class TestAddress:
    def test_decision_X6_sign_ins(self, world):
        for index in range(12):
            attempt(world, f"user-{index}")

        answer = attempt(world, "another")

        assert "too many" in refusal_message(answer, 429)
        waits(answer, 601)
        assert attempt(world, "another", ip="192.0.2.2").status_code == 401

    def test_case_I06_right_ones_count_too(self, world):
        world.user("ada")
        statuses = {attempt(world, "ada", PASSWORD).status_code for _ in range(12)}

        assert statuses == {200}
        assert find_refusal(attempt(world, "ada", PASSWORD)) == Refusal(429)

    def test_decision_X6_registrations(self, world):
        answers = [
            world.post(codes.REGISTER, json={"username": f"user-{index}", "password": "a good password 1"})
            for index in range(4)
        ]

        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        waits(answers[-1], 601)

    def test_case_I31_code_sends(self, world):
        codes.reachable(world)

        answers = [codes.send(world.browser(), new_email()) for _ in range(4)]

        assert [answer.status_code for answer in answers] == [200, 200, 200, 429]
        waits(answers[-1], 601)

    def test_case_I31_text_messages_of_a_tenant_from_many_addresses_to_many_numbers(self, world):
        codes.reachable(world)

        def ask(to: str, address: int) -> Any:
            forwarded = {"X-Forwarded-For": f"198.51.100.{address}"}
            return world.browser().post(codes.SEND, json=codes.about(to), headers=forwarded)

        answers = [ask(codes.new_phone(), address) for address in range(5)]

        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        waits(answers[-1], 3601)
        assert ask(new_email(), 6).status_code == 200

    def test_entered_codes_and_new_passwords_count_as_sign_ins(self, world):
        browser, to = world.browser(), new_email()
        for _ in range(4):
            codes.enter(browser, to, "1")
            codes.enter(browser, to, "1", "forgot_password")
            browser.post(codes.RESET, json={"identifier": to, "new_password": "x"})

        assert find_refusal(codes.enter(browser, to, "1")) == Refusal(429)
        assert find_refusal(codes.enter(browser, to, "1", "forgot_password")) == Refusal(429)
        assert find_refusal(
            browser.post(codes.RESET, json={"identifier": to, "new_password": "x"})
        ) == Refusal(429)

    def test_the_window_ends(self, world):
        for index in range(13):
            answer = attempt(world, f"user-{index}")
        counters(world, "address signs in").update(ends_at=datetime.now(UTC) - timedelta(seconds=1))

        assert answer.status_code == 429
        assert attempt(world, "another").status_code == 401


class TestAdministrators:
    @pytest.fixture
    def administrator(self, database):
        name = f"root-{new_email().partition('@')[0]}"
        with tenancy.using(tenancy.EVERYWHERE):
            administrators.create(username=name, password=PASSWORD)
        return name

    def sign_in(self, address, name, password="wrong", ip="192.0.2.1"):
        return httpx.post(
            f"{address}/api/admin/sign-in",
            json={"username": name, "password": password},
            headers={"X-Forwarded-For": ip},
        )

    def test_case_I32_have_the_same_lock(self, guarded, world, administrator):
        first = self.sign_in(guarded, administrator)
        # One count for every prefix: an administrator belongs to no tenant.
        self.sign_in(world.address, administrator)
        self.sign_in(guarded, administrator)

        locked = self.sign_in(guarded, administrator, PASSWORD)

        assert first.status_code == locked.status_code == 401
        assert first.content == locked.content
        waits(locked, _MINUTE)
        waits(self.sign_in(world.address, administrator, PASSWORD), _MINUTE)
        assert self.sign_in(guarded, administrator, PASSWORD, ip="192.0.2.2").status_code == 200

    def test_a_success_clears_it(self, guarded, administrator):
        for password in ("wrong", "wrong", PASSWORD, "wrong", "wrong"):
            self.sign_in(guarded, administrator, password)

        assert self.sign_in(guarded, administrator, PASSWORD).status_code == 200


def test_nobody_can_read_from_a_counter_who_tried(world):
    fail(world, "zoë@example.com", 1)

    with world.active():
        rows = list(Counter.objects.values())
    assert {row["kind"] for row in rows} == {"address signs in", "pair", "identifier"}
    assert not [row for row in rows if "zoë" in str(row) or "192.0.2.1" in str(row)]


def test_counters_that_are_long_over_are_forgotten(world):
    fail(world, "ada", 1)
    with world.active():
        Counter.objects.update(ends_at=datetime.now(UTC) - timedelta(hours=2))

    fail(world, "bob", 1)
    expiry.purge_some(batches=100)

    assert counters(world, "pair").count() == 1
