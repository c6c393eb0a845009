"""What is counted without refusing anybody, in the database and in Redis alike."""

import time

import pytest

from identity.limits import services as limits
from identity.limits import stores
from identity.limits.rules import Limit, Lock, Try
from tests.identity.test_limits import redis, store
from tests.support.threads import at_once

__all__ = ["redis", "store"]

FAILURES = Limit("client failures", 3, 600)
SHORT = Limit("summaries", 3, 1)


def counts(times: int, limit: Limit = FAILURES, key: str = "192.0.2.1") -> list[int]:
    return [limits.tally(limit, key).count for _ in range(times)]


def test_a_tally_goes_on_beyond_the_limit(store):
    assert counts(5) == [1, 2, 3, 4, 5]
    assert counts(1, key="192.0.2.2") == [1]


def test_a_tally_says_how_much_is_left_of_a_window_that_does_not_move(store):
    first = limits.tally(SHORT, "ada").seconds
    long = [limits.tally(FAILURES, "ada").seconds for _ in range(2)]

    assert 1 <= first <= 2
    assert all(595 <= seconds <= 601 for seconds in long)


def test_a_tally_begins_anew_when_its_window_is_over(store):
    assert counts(4, SHORT) == [1, 2, 3, 4]
    assert limits.is_any_reached((SHORT, "192.0.2.1"))
    time.sleep(1.2)

    assert not limits.is_any_reached((SHORT, "192.0.2.1"))
    assert counts(2, SHORT) == [1, 2]


def test_tallies_at_once_are_all_counted(store, acme):
    def one(_: int) -> int:
        with acme.active():
            return limits.tally(FAILURES, "192.0.2.1").count

    assert sorted(at_once(20, one)) == list(range(1, 21))


def test_tallies_and_what_is_taken_are_one_count(store):
    limits.take((FAILURES, "ada"))
    limits.take((FAILURES, "ada"))

    assert counts(1, key="ada") == [3]
    with pytest.raises(limits.TooMany):
        limits.take((FAILURES, "ada"))


def test_a_limit_is_reached_by_as_many_as_it_lets_through(store):
    reached = []
    for _ in range(4):
        reached.append(limits.is_any_reached((FAILURES, "ada")))
        limits.tally(FAILURES, "ada")

    assert reached == [False, False, False, True]


def test_one_of_several_is_enough_whichever_it_is(store):
    other = Limit("wrong codes", 1, 600)
    counts(2)
    before = limits.is_any_reached((FAILURES, "192.0.2.1"), (other, "ada"))
    limits.tally(other, "ada")

    assert not before
    assert limits.is_any_reached((FAILURES, "192.0.2.1"), (other, "ada"))
    assert limits.is_any_reached((other, "ada"), (FAILURES, "192.0.2.1"))
    # A key counts with its own limit only, whatever others hold for the same key.
    assert not limits.is_any_reached((FAILURES, "ada"), (other, "192.0.2.1"))


def test_asking_counts_nothing(store):
    counts(1)
    for _ in range(5):
        limits.is_any_reached((FAILURES, "192.0.2.1"))

    assert counts(1) == [2]


def test_a_lock_is_no_limit_that_could_be_reached(store):
    lock = Lock("pair", 2, 900)
    for _ in range(5):
        stores.tally(Try(lock, "ada"))

    assert not limits.is_any_reached((lock, "ada"))  # type: ignore[arg-type]  # what a caller may not do


def test_decision_T2_each_tenant_has_counts_of_its_own(store, rival):
    counts(3)
    with rival.active():
        assert not limits.is_any_reached((FAILURES, "192.0.2.1"))
        assert counts(1) == [1]

    assert limits.is_any_reached((FAILURES, "192.0.2.1"))
