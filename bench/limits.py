"""The limits of this machine: signatures, password hashes and durable writes per second.

``python -m bench.limits NAME SECONDS [DATABASE_URL]`` prints one of them.
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

import psycopg
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256

_WRITERS = 8
_TABLE = "bench_commits"
_COLUMNS = "(id varchar(36) PRIMARY KEY, payload text NOT NULL)"
_PAYLOAD = "x" * 300  # about as long as an audit entry


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def rate(work: Callable[[], object], seconds: float) -> float:
    """Repeat the work for this many seconds; return the repetitions per second."""
    work()
    count, started = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - started) < seconds:
        work()
        count += 1
    return count / elapsed


def es256(seconds: float, _: str) -> float:
    """Sign with ECDSA P-256 and SHA-256, on one processor."""
    key, algorithm = ec.generate_private_key(ec.SECP256R1()), ec.ECDSA(SHA256())
    message = b"x" * 400
    return rate(lambda: key.sign(message, algorithm), seconds)


def argon2id(seconds: float, _: str) -> float:
    """Hash passwords with 19 MiB, two passes and one lane, on all processors."""
    return _in_parallel(_hash, processors(), seconds, "")


def commits(seconds: float, url: str) -> float:
    """Insert single rows, each in a durable transaction of its own."""
    if url.startswith("sqlite"):
        return _commit_to_sqlite(seconds, unquote(urlsplit(url).path[1:]))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLE {_TABLE} {_COLUMNS}")
        try:
            return _in_parallel(_commit, _WRITERS, seconds, url)
        finally:
            connection.execute(f"DROP TABLE {_TABLE}")


def _in_parallel(work: Callable[[float, str], float], count: int, seconds: float, url: str) -> float:
    """Run the work in this many processes that start together; return the sum of their rates."""
    barrier = multiprocessing.Barrier(count)
    with multiprocessing.Pool(count, _set_barrier, (barrier,)) as pool:
        return sum(pool.starmap(work, [(seconds, url)] * count, chunksize=1))


def _set_barrier(barrier: Barrier) -> None:
    globals()["_barrier"] = barrier


def _wait_for_others() -> None:
    globals()["_barrier"].wait(30)


def _hash(seconds: float, _: str) -> float:
    from identity.users import argon2_builds  # noqa: PLC0415 - bench also fills 0.6.0, which lacks it

    if builds := argon2_builds.find_present():  # the servers use this build, too
        argon2_builds.load(builds[0].folder)
    import argon2.low_level as argon2  # noqa: PLC0415 - from the build, if there is one

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

    _wait_for_others()
    return rate(work, seconds)


def _commit(seconds: float, url: str) -> float:
    insert = f"INSERT INTO {_TABLE} VALUES (%s, %s)"  # noqa: S608 - a constant
    with psycopg.connect(url, autocommit=True) as connection:

        def work() -> None:
            connection.execute(insert, (str(uuid.uuid4()), _PAYLOAD), prepare=True)

        _wait_for_others()
        return rate(work, seconds)


def _commit_to_sqlite(seconds: float, path: str) -> float:
    """Insert with one writer: SQLite has one write lock."""
    with closing(sqlite3.connect(f"{path}.limit", isolation_level=None)) as connection:
        connection.executescript("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;")
        connection.execute(f"CREATE TABLE IF NOT EXISTS {_TABLE} {_COLUMNS}")
        insert = f"INSERT INTO {_TABLE} VALUES (?, ?)"  # noqa: S608 - a constant
        return rate(lambda: connection.execute(insert, (str(uuid.uuid4()), _PAYLOAD)), seconds)


LIMITS = {"es256": es256, "argon2id": argon2id, "commits": commits}


def main() -> None:
    name, seconds, url = (*sys.argv[1:], "")[:3]
    print(LIMITS[name](float(seconds), url))


if __name__ == "__main__":
    main()
