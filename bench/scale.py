r"""Measures lists over HTTP while there are many rows.

    python bench/scale.py --users 1000000 --entries 10000000 --tenants 100 --organizations 1000 \
        --members 100000 --roles 1000 --role-users 10000

Everything is made for the measurement and thrown away, as by ``run.py``. With ``--database-url`` a
database is measured that ``fill.py`` filled; then ``ENCRYPTION_KEYS`` and ``ADMIN_PASSWORD`` are those
that it was filled with.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import given
import measure
import psycopg
import stage
from measure import Row, Times

_SIZES: Final = ("users", "entries", "tenants", "organizations", "members", "roles", "role-users")
_TABLE: Final = "{:44} {:>9} {:>9} {:>9} {:>10} {:>9}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure lists while there are many rows.")
    for name in _SIZES:
        parser.add_argument(f"--{name}", type=int, default=0, help="as of fill.py")
    parser.add_argument("--database-url", help="measure this one, which fill.py filled")
    parser.add_argument("--seconds", type=float, default=4, help="a row (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=2, help="of the lists (default: %(default)s)")
    parser.add_argument("--only", help="rows whose title has this in it")
    return parser.parse_args()


@contextmanager
def _database(arguments: argparse.Namespace, environment_of: Any) -> Iterator[tuple[Any, dict[str, str]]]:
    """Yield a filled database, and the environment of a server on it."""
    with ExitStack() as stack:
        place = stack.enter_context(stage.place())
        if arguments.database_url:
            watch = stack.enter_context(psycopg.connect(arguments.database_url, autocommit=True))
            database = stage.Database(arguments.database_url, "", {}, watch=watch)
            kept = {name: os.environ[name] for name in ("ENCRYPTION_KEYS", "ADMIN_PASSWORD")}
            yield database, environment_of(place, database.url) | kept
            return
        database = stack.enter_context(stage.database(place, sqlite=False))
        environment = environment_of(place, database.url)
        sizes = [f"--{name}={getattr(arguments, name.replace('-', '_'))}" for name in _SIZES]
        command = [sys.executable, str(stage.BENCH / "fill.py"), "--database-url", database.url, *sizes]
        filling = stage.start(command, environment)
        try:
            if filling.wait():
                raise stage.Failed("the database could not be filled")
        finally:
            stage.stop(filling)
        yield database, environment


def main() -> None:
    """Fill, serve, measure, and print the table."""
    arguments = _arguments()
    with ExitStack() as stack:
        database, environment = stack.enter_context(_database(arguments, stage.environment))
        server = stack.enter_context(stage.server(environment))
        caller = given.Caller(server.port, environment["ADMIN_PASSWORD"])
        print(_TABLE.format("", "a second", "p50 ms", "p99 ms", "server ms", "db ms"))
        for title, kind, world in given.rows(caller):
            if arguments.only and arguments.only not in title:
                continue
            connections = arguments.connections if kind == "given" else 16
            row = Row(kind, title, connections, "")
            times = Times(warm_up=1, seconds=arguments.seconds, limit=0)
            result = measure.row(row, server, database, world, times)
            print(_line(title, result), flush=True)


def _line(title: str, result: dict[str, Any]) -> str:
    if result["errors"]:
        return f"{title:44} no result: {json.dumps(result['said'])[:200]}"
    numbers = ("per_second", "p50", "p99", "server_ms", "database_ms")
    return _TABLE.format(title, *(f"{result[name]:,.1f}" for name in numbers))


if __name__ == "__main__":
    main()
