"""Calls at the same moment, in threads with database connections of their own."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import TypeVar

from django.db import connection, connections

T = TypeVar("T")
THOROUGH = os.environ.get("GATEHOUSE_THOROUGH") == "1"


def rounds(few: int) -> int:
    """Return how often a race is run: a few times, or two hundred times in a thorough run."""
    return 200 if THOROUGH else few


def at_once(number: int, work: Callable[[int], T]) -> list[T]:
    """Do the work in so many threads that start together; the first exception of any is raised."""
    ready = Barrier(number)

    def one(index: int) -> T:
        ready.wait()
        try:
            return work(index)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        futures = [pool.submit(one, index) for index in range(number)]
    return [future.result() for future in futures]


def call_at_once(calls: Sequence[Callable[[], T]]) -> list[T]:
    """Make calls in threads that start together, and return their results."""
    return at_once(len(calls), lambda index: calls[index]())


def count_waiting() -> int:
    """Return how many connections to this database of PostgreSQL wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchone()[0])


def wait_until(happened: Callable[[], bool], seconds: float = 20) -> bool:
    """Wait until something is true, and return whether it is within so many seconds."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
