"""Counters that refuse no request, in the database and in Redis alike."""

import time

import pytest

from identity.limits import services as limits
from identity.limits import stores
from identity.limits.rules import Hit, Limit, Lock
from tests.support.threads import at_once

FAILURES = Limit("client failures", 3, 600)
SHORT = Limit("summaries", 3, 1)


def counts(times: int, limit: Limit = FAILURES, key: str = "192.0.2.1") -> list[int]:
    return [limits.increment(limit, key).count for _ in range(times)]


def test_increments_go_on_beyond_the_limit(store):
    assert counts(5) == [1, 2, 3, 4, 5]
    assert counts(1, key="192.0.2.2") == [1]


def test_an_increment_returns_when_the_window_ends(store):
    first = limits.increment(SHORT, "ada").resets_in
    long = [limits.increment(FAILURES, "ada").resets_in for _ in range(2)]

    assert 1 <= first <= 2
    assert all(595 <= seconds <= 601 for seconds in long)


def test_counting_starts_again_when_the_window_has_ended(store):
    assert counts(4, SHORT) == [1, 2, 3, 4]
    assert not limits.test((SHORT, "192.0.2.1"))
    time.sleep(1.2)

    assert limits.test((SHORT, "192.0.2.1"))
    assert counts(2, SHORT) == [1, 2]


def test_increments_at_once_are_all_counted(store, acme):
    def one(_: int) -> int:
        with acme.active():
            return limits.increment(FAILURES, "192.0.2.1").count

    assert sorted(at_once(20, one)) == list(range(1, 21))


def test_increments_and_hits_are_one_count(store):
    limits.hit((FAILURES, "ada"))
    limits.hit((FAILURES, "ada"))

    assert counts(1, key="ada") == [3]
    with pytest.raises(limits.TooMany):
        limits.hit((FAILURES, "ada"))


def test_a_limit_is_reached_by_as_many_as_it_lets_through(store):
    reached = []
    for _ in range(4):
        reached.append(not limits.test((FAILURES, "ada")))
        limits.increment(FAILURES, "ada")

    assert reached == [False, False, False, True]


def test_one_of_several_is_enough_whichever_it_is(store):
    other = Limit("wrong codes", 1, 600)
    counts(2)
    allowed_before = limits.test((FAILURES, "192.0.2.1"), (other, "ada"))
    limits.increment(other, "ada")

    assert allowed_before
    assert not limits.test((FAILURES, "192.0.2.1"), (other, "ada"))
    assert not limits.test((other, "ada"), (FAILURES, "192.0.2.1"))
    # A key counts with its own limit only, whatever others hold for the same key.
    assert limits.test((FAILURES, "ada"), (other, "192.0.2.1"))


def test_asking_counts_nothing(store):
    counts(1)
    for _ in range(5):
        limits.test((FAILURES, "192.0.2.1"))

    assert counts(1) == [2]


def test_a_lock_is_no_limit_that_could_be_reached(store):
    lock = Lock("pair", 2, 900)
    for _ in range(5):
        stores.increment(Hit(lock, "ada"))

    assert limits.test((lock, "ada"))  # type: ignore[arg-type]  # what a caller may not do


def test_decision_T2_each_tenant_has_counts_of_its_own(store, rival):
    counts(3)
    with rival.active():
        assert limits.test((FAILURES, "192.0.2.1"))
        assert counts(1) == [1]

    assert not limits.test((FAILURES, "192.0.2.1"))
