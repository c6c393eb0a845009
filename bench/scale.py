r"""Measures lists over HTTP while there are many rows.

    python bench/scale.py --users 1000 100000 1000000 --entries 10000000 --tenants 100 \
        --organizations 1000 --members 100000 --roles 1000 --role-users 10000 [--write]

With several numbers of users each is filled and measured in its turn; the others have a share of
what is asked for that is like their share of the users. Everything is made for the measurement and
thrown away, as by ``run.py``. With ``--database-url`` a database is measured that ``fill.py`` filled;
then ``ENCRYPTION_KEYS`` and ``ADMIN_PASSWORD`` are those that it was filled with.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import given
import measure
import psycopg
import sections
import stage
import tables
from measure import Row, Times

_SIZES: Final = ("entries", "tenants", "organizations", "members", "roles", "role-users")
_COUNT: Final = re.compile(r" \([0-9,]+\)")  # in a title
_TABLE: Final = "{:44} {:>9} {:>9} {:>9} {:>10} {:>9}"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure lists while there are many rows.")
    parser.add_argument("--users", type=int, nargs="+", default=[0], help="as of fill.py; may be several")
    for name in _SIZES:
        parser.add_argument(f"--{name}", type=int, default=0, help="as of fill.py")
    parser.add_argument("--write", action="store_true", help="also write it into docs/performance.md")
    parser.add_argument("--database-url", help="measure this one, which fill.py filled")
    parser.add_argument("--seconds", type=float, default=4, help="a row (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=2, help="of the lists (default: %(default)s)")
    parser.add_argument("--only", help="rows whose title has this in it")
    return parser.parse_args()


@contextmanager
def _database(
    arguments: argparse.Namespace, users: int, environment_of: Any
) -> Iterator[tuple[Any, dict[str, str]]]:
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
        share = users / max(1, *arguments.users)
        asked = {name: getattr(arguments, name.replace("-", "_")) for name in _SIZES}
        sizes = [f"--users={users}", *(f"--{name}={int(share * number)}" for name, number in asked.items())]
        command = [sys.executable, str(stage.BENCH / "fill.py"), "--database-url", database.url, *sizes]
        filling = stage.start(command, environment)
        try:
            if filling.wait():
                raise stage.Failed("the database could not be filled")
        finally:
            stage.stop(filling)
        yield database, environment


def _measured(arguments: argparse.Namespace, users: int) -> dict[str, dict[str, Any]]:
    """Fill, serve, and measure every row; print each as it is done."""
    found = {}
    with ExitStack() as stack:
        database, environment = stack.enter_context(_database(arguments, users, stage.environment))
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
            found[_COUNT.sub("", title)] = result
    return found


def _line(title: str, result: dict[str, Any]) -> str:
    if result["errors"]:
        return f"{title:44} no result: {json.dumps(result['said'])[:200]}"
    numbers = ("per_second", "p50", "p99", "server_ms", "database_ms")
    return _TABLE.format(title, *(f"{result[name]:,.1f}" for name in numbers))


def _cell(result: dict[str, Any] | None) -> str:
    if result is None or result["errors"]:
        return "no result" if result else "-"
    return f"{result['p50']:,.1f} / {result['p99']:,.1f}"


def main() -> int:
    """Measure at each size, and print what they are beside each other."""
    arguments = _arguments()
    found = {users: _measured(arguments, users) for users in arguments.users}
    last = found[arguments.users[-1]]
    costs = ("per_second", "server_ms", "database_ms")
    heads = [f"{users:,} users: p50 / p99 ms" for users in found]
    table = [["row", *heads, "a second", "CPU ms, server", "CPU ms, database"]]
    for title, result in last.items():
        of_last = ["-"] * 3 if result["errors"] else [f"{result[name]:,.2f}" for name in costs]
        table.append([title, *(_cell(rows.get(title)) for rows in found.values()), *of_last])
    if len(found) > 1:
        print("", tables.aligned(table), sep="\n")
    failed = any(result["errors"] for rows in found.values() for result in rows.values())
    if arguments.write and not failed:
        sizes = ", ".join(f"{getattr(arguments, name.replace('-', '_')):,} {name}" for name in _SIZES)
        note = f"Beside the users, at the largest size: {sizes}. Rates and costs are of the largest size."
        sections.write(scale=f"{tables.markdown(table)}\n\n{note}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
