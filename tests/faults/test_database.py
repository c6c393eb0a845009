"""R3: PostgreSQL restarts, is away, holds a table, and lets nobody in."""

import threading
import time
from contextlib import ExitStack, suppress

import httpx
import psycopg
import pytest

from tests.support import postgres_server
from tests.support.installation import check_nothing_is_lost, check_one_branch
from tests.support.witness import UNAVAILABLE

_LOCKED_SECONDS = 20


@pytest.mark.parametrize("mode", ["fast", "immediate", "kill"])
def test_fault_R3_postgresql_restarts_under_load(installation, measured, mode):
    installation.serve()
    seen = installation.witness()
    programs = (seen.refreshing, seen.signing_in, seen.creating, seen.asking_for_tokens)

    with seen.going(*programs, each=2):
        for _ in range(3):
            if mode == "kill":
                installation.server.kill()
            else:
                installation.server.stop(mode)
            installation.server.start()
            back = time.monotonic()
            seen.goes_on(40)

    measured(mode=mode, answers=seen.summary(), recovery=round(seen.recovery(back), 2))
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.recovery(back) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
    installation.server.check(installation.url.rpartition("/")[2])


def test_fault_R3_postgresql_is_away_for_30_seconds(installation, measured):
    node = installation.serve()
    seen = installation.witness()
    before = node.workers()

    with seen.going(seen.refreshing, seen.signing_in, seen.creating, seen.reading, each=2):
        installation.server.stop("fast")
        went = time.monotonic()
        while time.monotonic() < went + 30:
            assert httpx.get(f"{node.address}/readyz", timeout=10).status_code == 503
            assert httpx.get(f"{node.address}/healthz", timeout=10).status_code == 200
            time.sleep(1)
        installation.server.start()
        back = time.monotonic()
        ready = installation.becomes_ready()
        seen.goes_on(40)

    during = [each.ended - each.began for each in seen.answers if went < each.began < back]
    measured(
        answers=seen.summary(),
        recovery=round(seen.recovery(back), 2),
        ready=round(ready, 2),
        slowest_while_away=round(max(during), 2),
    )
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.recovery(back) < 5
    assert max(during) < 6
    assert node.workers() == before  # nothing had to be started again
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def test_fault_R3_somebody_holds_the_table_of_refresh_families(installation, measured):
    """The role that serves waits 5 seconds for a lock: threads come free, and the rest goes on."""
    installation.serve()
    seen = installation.witness()

    with seen.going(seen.refreshing, seen.asking_for_tokens, seen.reading, each=4):
        with psycopg.connect(installation.owner) as holder:
            holder.execute("LOCK TABLE grants_refreshfamily IN ACCESS EXCLUSIVE MODE")
            locked = time.monotonic()
            time.sleep(_LOCKED_SECONDS)
        free = time.monotonic()
        seen.goes_on(40)

    beside = [
        each
        for each in seen.answers
        if locked < each.began < free and each.program in {"asking_for_tokens", "reading"}
    ]
    measured(
        answers=seen.summary(),
        recovery=round(seen.recovery(free), 2),
        slowest=round(seen.slowest(), 2),
        answered_beside=len(beside),
    )
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.count(UNAVAILABLE) > 0
    assert len(beside) > 40
    assert seen.slowest() < 10
    assert seen.recovery(free) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def test_fault_R3_a_storm_of_locks_on_rows(installation, measured):
    """Eight sessions take all rows of users and families in turn, for half a second each."""
    installation.serve()
    seen = installation.witness()
    over = threading.Event()

    def storm() -> None:
        while not over.is_set():
            with suppress(psycopg.errors.DeadlockDetected), psycopg.connect(installation.owner) as session:
                session.execute("SELECT FROM users_user FOR UPDATE")
                session.execute("SELECT FROM grants_refreshfamily FOR UPDATE")
                time.sleep(0.5)
            time.sleep(0.5)

    threads = [threading.Thread(target=storm) for _ in range(8)]
    with seen.going(seen.refreshing, seen.signing_in, seen.asking_for_tokens, each=2):
        for thread in threads:
            thread.start()
        time.sleep(15)
        over.set()
        for thread in threads:
            thread.join()
        calm = time.monotonic()
        seen.goes_on(40)

    measured(answers=seen.summary(), recovery=round(seen.recovery(calm), 2), slowest=round(seen.slowest(), 2))
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.recovery(calm) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def test_fault_R3_others_took_every_connection(installation, measured):
    node = installation.serve()
    seen = installation.witness()

    with ExitStack() as held:
        take_every_connection(installation.url, held)
        # Open connections stay usable. A client whose request needs a new one is told to retry.
        with seen.going(seen.refreshing, seen.asking_for_tokens, each=12):
            time.sleep(3)
            held.close()
            free = time.monotonic()
            seen.goes_on(100)

    measured(answers=seen.summary(), recovery=round(seen.recovery(free), 2))
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.recovery(free) < 5
    assert httpx.get(f"{node.address}/readyz").status_code == 200
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)


def take_every_connection(url: str, held: ExitStack) -> None:
    with suppress(psycopg.OperationalError):
        while True:
            held.enter_context(psycopg.connect(url))


def test_fault_R3_postgresql_is_a_standby_for_ten_seconds(installation, measured):
    """As after a failover, before the proxy has found the new primary: reads go on, writes are 503."""
    node = installation.serve()
    seen = installation.witness()
    signal = installation.server.place / "standby.signal"

    with seen.going(seen.refreshing, seen.signing_in, seen.creating, seen.reading, each=2):
        installation.server.stop("fast")
        signal.touch()
        postgres_server.own(signal)
        installation.server.start()
        went = time.monotonic()
        while time.monotonic() < went + 10:
            assert httpx.get(f"{node.address}/readyz", timeout=10).status_code == 503
            time.sleep(1)
        installation.server.stop("fast")
        signal.unlink()
        installation.server.start()
        back = time.monotonic()
        ready = installation.becomes_ready()
        seen.goes_on(40)

    measured(answers=seen.summary(), recovery=round(seen.recovery(back), 2), ready=round(ready, 2))
    assert seen.wrong(UNAVAILABLE) == []
    assert seen.recovery(back) < 5
    check_nothing_is_lost(seen, installation.query)
    check_one_branch(seen)
