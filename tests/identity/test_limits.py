"""What is counted, in the database and in Redis alike."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connections, transaction
from redis import Redis

from identity.limits import rules
from identity.limits import services as limits
from identity.limits.models import Counter
from identity.limits.rules import Hit, Limit, Lock
from tests.support.threads import at_once, rounds

PAIR, IDENTIFIER = Lock("pair", 3, 900), Lock("identifier", 8, 3600)
ADDRESS = Limit("address signs in", 12, 600)


class Wrong(Exception):
    """Not the password."""


class Locked(Wrong):
    def __init__(self, seconds: int) -> None:
        self.seconds = seconds


def test_the_names_of_all_limits_fit_into_their_column():
    named = [rule.kind for rule in vars(rules).values() if isinstance(rule, Limit | Lock)]
    most = Counter._meta.get_field("kind").max_length

    assert len(named) > 20
    assert most is not None
    assert [kind for kind in named if len(kind) > most] == []  # which SQLite would not say


def guess(*, right: bool = False, who: str = "ada", at: str = "192.0.2.1") -> None:
    tries = (PAIR, f"{who} {at}"), (IDENTIFIER, who)
    with limits.login_attempt(*tries, failure=Wrong, locked=Locked, group=who):
        if not right:
            raise Wrong


def seconds_locked(**about: Any) -> int:
    with pytest.raises(Locked) as locked:
        guess(**about)
    return int(locked.value.seconds)


def fail(times: int = 3, **about: Any) -> None:
    for _ in range(times):
        with pytest.raises(Wrong) as wrong:
            guess(**about)
        assert not isinstance(wrong.value, Locked)


def let_pass(store: str, url: str) -> None:
    """Let every lock run out, but not what it remembers."""
    if store == "database":
        Counter.objects.exclude(locked_until=None).update(
            locked_until=datetime.now(UTC) - timedelta(seconds=1)
        )
        return
    with Redis.from_url(url) as redis:
        for key in redis.scan_iter("gatehouse:test:limits:*", _type="hash"):
            redis.hdel(key, "until")


def test_a_limit_says_how_long_to_wait(store):
    for _ in range(12):
        limits.hit((ADDRESS, "192.0.2.1"))

    with pytest.raises(limits.TooMany) as refused:
        limits.hit((ADDRESS, "192.0.2.1"))

    assert 590 <= int(refused.value.headers["Retry-After"]) <= 601
    limits.hit((ADDRESS, "192.0.2.2"))


def test_several_limits_count_all_or_none(store):
    once = Limit("code pause", 1, 60)
    limits.hit((once, "ada"))

    for _ in range(15):
        with pytest.raises(limits.TooMany):
            limits.hit((ADDRESS, "ada"), (once, "ada"))

    limits.hit((ADDRESS, "ada"))


def test_locks_double_up_to_an_hour(store, settings):
    fail()
    spans = []
    for _ in range(5):
        spans.append(seconds_locked())
        let_pass(store, settings.CACHE_URL)
        fail(1)

    # The eighth failure locks the identifier as well: for less than the pair, which is asked first.
    assert [round(span / 60) for span in spans] == [1, 2, 4, 8, 16]
    for _ in range(3):
        let_pass(store, settings.CACHE_URL)
        fail(1)
    assert round(seconds_locked() / 60) == 60


def test_who_is_locked_out_counts_nowhere_else(store):
    fail()
    for _ in range(20):
        seconds_locked(right=True)

    for number in range(2, 7):
        fail(1, at=f"192.0.2.{number}")
    assert seconds_locked(at="192.0.2.99") <= 61


def test_a_right_one_clears_the_first_lock_and_counts_on_no_other(store):
    fail(2)
    guess(right=True)
    fail(2)

    for number in range(2, 6):
        fail(1, at=f"192.0.2.{number}")
    seconds_locked(at="192.0.2.99")


def test_the_locks_of_a_group_are_read_without_their_keys(store):
    fail(at="192.0.2.1")
    fail(at="192.0.2.2")
    seconds_locked(at="192.0.2.1")
    fail(who="bob")

    locks = limits.get_locks(["ada", "nobody"])

    assert {lock.key_hash for lock in locks} == {
        Hit(PAIR, f"ada {address}").key_hash for address in ("192.0.2.1", "192.0.2.2")
    }
    assert all(50 <= lock.resets_in <= 61 for lock in locks)
    assert limits.get_locks(["nobody"]) == []


def test_clearing_a_group_ends_its_locks_and_forgets_its_failures(store):
    fail(at="192.0.2.1")
    for number in range(2, 6):
        fail(1, at=f"192.0.2.{number}")
    fail(who="bob")

    for _ in range(2):  # the second time there is nothing left to clear
        limits.clear_locks(["ada", "nobody"])

    assert limits.get_locks(["ada"]) == []
    fail(2, at="192.0.2.1")
    fail(1, at="192.0.2.9")
    seconds_locked(who="bob")


def test_clearing_and_guessing_at_once_wait_in_no_circle(store, acme):
    def one(index: int) -> None:
        with acme.active():
            for _ in range(rounds(10)):
                if index % 2:
                    with transaction.atomic():
                        limits.clear_locks(["ada"])
                    continue
                with suppress(Wrong):
                    guess(at=f"192.0.2.{index}")

    at_once(8, one)

    with transaction.atomic():
        limits.clear_locks(["ada"])
    fail(1)  # whichever call was the last, failures count again


def test_what_ends_otherwise_never_counted(store):
    for _ in range(5):
        with (
            pytest.raises(ZeroDivisionError),
            limits.login_attempt((PAIR, "ada"), failure=Wrong, locked=Locked),
        ):
            raise ZeroDivisionError


def test_case_I07_fifty_guesses_at_once_are_three(store, acme):
    for number in range(rounds(3)):
        looked: list[int] = []

        def one(index: int, who: str = f"ada {number}", looked: list[int] = looked) -> str:
            with acme.active():
                try:
                    with limits.login_attempt((PAIR, who), (IDENTIFIER, who), failure=Wrong, locked=Locked):
                        looked.append(index)
                        raise Wrong  # noqa: TRY301 - as a journey does
                except Wrong as wrong:
                    return type(wrong).__name__

        assert sorted(at_once(50, one)) == ["Locked"] * 47 + ["Wrong"] * 3
        assert len(looked) == 3


def test_a_lock_that_begins_meanwhile_refuses_and_counts_nowhere_else(acme):
    """The one that waits has seen no lock, and has counted for the identifier when it finds one."""

    def guess() -> str:
        with acme.active():
            try:
                with limits.login_attempt((PAIR, "ada"), (IDENTIFIER, "ada"), failure=Wrong, locked=Locked):
                    raise Wrong  # noqa: TRY301 - as a journey does
            except Wrong as wrong:
                return type(wrong).__name__

    def other_guess() -> str:
        try:
            return guess()
        finally:
            connections.close_all()

    assert [guess(), guess()] == ["Wrong"] * 2
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            assert guess() == "Wrong"
            waiting = pool.submit(other_guess)
            time.sleep(1)
            assert not waiting.done()
        assert waiting.result() == "Locked"

    with acme.active():
        assert dict(Counter.objects.values_list("kind", "count")) == {"pair": 3, "identifier": 3}


def test_right_and_wrong_ones_at_once_wait_in_no_circle(store, acme):
    """Rows are held in one order, also in the transaction that a right guess leads to."""
    patient = Lock("pair", 1000, 900), Lock("identifier", 1000, 3600)

    def one(index: int) -> None:
        tries = (patient[0], f"ada {index % 2}"), (patient[1], "ada")
        with acme.active():
            for number in range(rounds(10)):
                try:
                    with limits.login_attempt(
                        *tries, failure=Wrong, within=Limit("address", 10**6, 60)
                    ) as attempt:
                        attempt.check(Locked)
                        if (index + number) % 3 == 0:
                            raise Wrong  # noqa: TRY301 - as above
                        with transaction.atomic():
                            attempt.succeed()
                except Wrong:
                    pass

    at_once(8, one)
