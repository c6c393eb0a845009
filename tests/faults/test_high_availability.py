"""The primary dies, with the recipe of docs/deployment/high-availability.md on this machine."""

import time

import pytest

from tests.support.high_availability import install, recipe, wait_until
from tests.support.installation import check_nothing_is_lost, check_one_branch
from tests.support.witness import OK, UNAVAILABLE, Witness

_PROMISE = 30
_LOAD = 0.5  # of the capacity
_THREADS = 4  # of each program
_MEASURED_SECONDS = 15
_WRITERS = ("refreshing", "signing_in", "creating", "asking_for_tokens")


@pytest.mark.usefixtures("database")
def test_fault_HA_the_primary_dies_twice_and_no_acknowledged_write_is_lost(measured):
    with recipe() as made:
        installation = install(made)
        installation.serve(WEB_CONCURRENCY="1")
        installation.serve(WEB_CONCURRENCY="1")
        seen = installation.witness()
        recoveries = []
        with seen.going(seen.refreshing, seen.signing_in, seen.creating, seen.asking_for_tokens, each=2):
            for _ in range(2):
                victim = made.primary()
                victim.kill()
                died = time.monotonic()
                wait_until(lambda gone=victim: made.primary() is not gone, "no other primary")
                seen.goes_on(100)
                recoveries.append(round(seen.recovery(died), 1))
                made.start_database(victim)
                wait_until(made.is_synchronous, "the other did not come back")
                seen.goes_on(40)
            ended = time.monotonic()
            time.sleep(5)

        measured(recoveries=recoveries, answers=seen.summary())
        assert seen.wrong(UNAVAILABLE) == []
        assert max(recoveries) < _PROMISE
        assert seen.recovery(ended) == 0
        check_nothing_is_lost(seen, installation.query)
        check_one_branch(seen)


@pytest.mark.usefixtures("database")
def test_fault_HA_the_primary_dies_at_half_of_the_capacity(measured):
    """The capacity is what the same programs reach without a pause, on the same machine."""
    with recipe() as made:
        installation = install(made)
        installation.serve(WEB_CONCURRENCY="1")
        installation.serve(WEB_CONCURRENCY="1")
        seen = installation.witness()
        seen.pause = 0
        programs = (seen.refreshing, seen.signing_in, seen.creating, seen.asking_for_tokens)
        with seen.going(*programs, each=_THREADS):
            capacity = _rates_from_now(seen)
            seen.intervals = {program: _THREADS / (rate * _LOAD) for program, rate in capacity.items()}
            load = _rates_from_now(seen)
            before = seen.summary()
            victim = made.primary()
            died = time.monotonic()
            victim.kill()
            wait_until(lambda: made.primary() is not victim, "no other primary")
            seen.goes_on(100)
            time.sleep(_MEASURED_SECONDS)
            after = seen.summary()

        recovery, silence = seen.recovery(died), seen.longest_silence(died, *_WRITERS)
        measured(
            capacity=round(sum(capacity.values()), 1),
            load=round(sum(load.values()), 1),
            refused_for=round(recovery, 1),
            no_write_for=round(silence, 1),
            answers={outcome: number - before.get(outcome, 0) for outcome, number in after.items()},
        )
        assert set(before) == {OK}
        assert seen.wrong(UNAVAILABLE) == []
        assert max(recovery, silence) < _PROMISE
        check_nothing_is_lost(seen, installation.query)
        check_one_branch(seen)


def _rates_from_now(seen: Witness) -> dict[str, float]:
    """Return the requests a second of each program from now on, after a moment in which they settle."""
    time.sleep(2)
    since = time.monotonic()
    time.sleep(_MEASURED_SECONDS)
    return seen.rates(since, time.monotonic())
