"""The primary dies, with the recipe of docs/deployment/high-availability.md on this machine."""

import time

import pytest

from tests.support.high_availability import install, recipe, wait_until
from tests.support.installation import no_second_branch, nothing_is_lost
from tests.support.witness import UNAVAILABLE

_PROMISE = 30


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
        nothing_is_lost(seen, installation.query)
        no_second_branch(seen)
