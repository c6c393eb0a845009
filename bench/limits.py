"""What this machine can do at most: signatures, password hashes, durable writes.

``limits.py NAME SECONDS [DATABASE_URL]`` prints how many of them it did in a second.
"""

import multiprocessing
import os
import sqlite3
import sys
import time
import uuid
from collections.abc import Callable
from contextlib import closing
from multiprocessing.synchronize import Barrier
from urllib.parse import unquote, urlsplit

import argon2.low_level as argon2
import psycopg
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

WRITERS = 8
_TABLE = "bench_commits"
_COLUMNS = "(id varchar(36) PRIMARY KEY, what text NOT NULL)"
_WHAT = "x" * 300  # about as long as an audit entry


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def rate(work: Callable[[], object], seconds: float) -> float:
    """Do the work again and again for so long; return how often in a second."""
    work()
    done, began = 0, time.perf_counter()
    while (passed := time.perf_counter() - began) < seconds:
        work()
        done += 1
    return done / passed


def es256(seconds: float, _: str) -> float:
    """Sign with ECDSA P-256 and SHA-256, on one processor."""
    key, algorithm = ec.generate_private_key(ec.SECP256R1()), ec.ECDSA(SHA256())
    message = b"x" * 400
    return rate(lambda: key.sign(message, algorithm), seconds)


def argon2id(seconds: float, _: str) -> float:
    """Hash passwords with 19 MiB, two passes and one lane, on all processors."""
    return _together(_hash, processors(), seconds, "")


def commits(seconds: float, url: str) -> float:
    """Insert single rows, each in a transaction of its own that survives a power cut."""
    if url.startswith("sqlite"):
        return _commit_to_sqlite(seconds, unquote(urlsplit(url).path[1:]))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {_TABLE} {_COLUMNS}")
        try:
            return _together(_commit, WRITERS, seconds, url)
        finally:
            connection.execute(f"DROP TABLE {_TABLE}")


def _together(work: Callable[[float, str], float], count: int, seconds: float, url: str) -> float:
    """Run the work in so many processes that begin at the same moment; add up what they did."""
    barrier = multiprocessing.Barrier(count)
    with multiprocessing.Pool(count, _ready, (barrier,)) as pool:
        return sum(pool.starmap(work, [(seconds, url)] * count, chunksize=1))


def _ready(barrier: Barrier) -> None:
    globals()["_barrier"] = barrier


def _wait() -> None:
    globals()["_barrier"].wait(30)


def _hash(seconds: float, _: str) -> float:
    def work() -> bytes:
        return argon2.hash_secret_raw(
            b"correct horse battery staple",
            b"sixteen bytes...",
            time_cost=2,
            memory_cost=19 * 1024,
            parallelism=1,
            hash_len=32,
            type=argon2.Type.ID,
        )

    _wait()
    return rate(work, seconds)


def _commit(seconds: float, url: str) -> float:
    insert = f"INSERT INTO {_TABLE} VALUES (%s, %s)"  # noqa: S608 - a constant
    with psycopg.connect(url, autocommit=True) as connection:

        def work() -> None:
            connection.execute(insert, (str(uuid.uuid4()), _WHAT), prepare=True)

        _wait()
        return rate(work, seconds)


def _commit_to_sqlite(seconds: float, path: str) -> float:
    """One writer: SQLite has one write lock."""
    with closing(sqlite3.connect(f"{path}.limit", isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE} {_COLUMNS}")
        insert = f"INSERT INTO {_TABLE} VALUES (?, ?)"  # noqa: S608 - a constant
        return rate(lambda: connection.execute(insert, (str(uuid.uuid4()), _WHAT)), seconds)


LIMITS = {"es256": es256, "argon2id": argon2id, "commits": commits}


def main() -> None:
    """Print one limit."""
    name, seconds, url = (*sys.argv[1:], "")[:3]
    print(LIMITS[name](float(seconds), url))


if __name__ == "__main__":
    main()
