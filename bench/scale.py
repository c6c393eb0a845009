r"""Measure lists of the management API with up to a million users and ten million audit entries.

    python -m bench scale --users 1000 100000 1000000 --entries 10000000 --tenants 100 \
        --organizations 1000 --members 100000 --roles 1000 --role-users 10000 [--write]

With several numbers of users, each is filled and measured in turn; the other numbers are those of
the largest size and shrink in proportion. With ``--database-url`` it measures a database that
``bench fill`` filled: set ENCRYPTION_KEYS and ADMIN_PASSWORD as they were then.
"""

import argparse
import json
import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Final

import psycopg

from bench import fixtures, sections, servers, tables
from bench.databases import Database
from bench.measure import Row, Times, measure_row
from bench.servers import Installation, Target

_SIZES: Final = ("entries", "tenants", "organizations", "members", "roles", "role-users")
_COUNT: Final = re.compile(r" \([0-9,]+\)")  # in a title
_LINE: Final = "{:44} {:>9} {:>9} {:>9} {:>10} {:>9}"
# The rows of docs/performance.md; the file of the run has all.
_ON_PAGE: Final = (
    "users, page 1",
    "users, last page",
    "users, page in the middle",
    "users, search for one",
    "audit log, page 1",
    "audit log, last page",
    "audit log, page in the middle",
    "audit log of a user",
    "users of a role, all of them",
    "session context",
)

Results = dict[str, dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--users", type=int, nargs="+", default=[0], help="one or more sizes, as of fill")
    for name in _SIZES:
        parser.add_argument(f"--{name}", type=int, default=0, help="as of fill")
    parser.add_argument("--write", action="store_true", help="also update docs/performance.md")
    parser.add_argument("--database-url", help="measure this database, which fill filled")
    parser.add_argument("--seconds", type=float, default=4, help="of a row (default: %(default)s)")
    parser.add_argument("--connections", type=int, default=2, help="of the lists (default: %(default)s)")
    parser.add_argument("--only", help="measure rows whose title contains this text")


@contextmanager
def _filled_installation(arguments: argparse.Namespace, users: int) -> Iterator[Installation]:
    with ExitStack() as stack:
        if arguments.database_url:
            folder = stack.enter_context(servers.new_folder())
            observer = stack.enter_context(psycopg.connect(arguments.database_url, autocommit=True))
            database = Database(arguments.database_url, observer=observer)
            environment = servers.production_environment(folder, database.url)
            environment |= {name: os.environ[name] for name in ("ENCRYPTION_KEYS", "ADMIN_PASSWORD")}
            yield Installation(folder, database, environment, {})
            return
        installation = stack.enter_context(servers.new_installation(seeded=False))
        share = users / max(1, *arguments.users)
        sizes = {name: int(share * _size(arguments, name)) for name in _SIZES}
        installation.fill(f"--users={users}", *(f"--{name}={number}" for name, number in sizes.items()))
        yield installation


def _size(arguments: argparse.Namespace, name: str) -> int:
    return int(getattr(arguments, name.replace("-", "_")))


def _measure_size(arguments: argparse.Namespace, users: int) -> Results:
    """Fill, serve, and measure every row; print each result."""
    results: Results = {}
    times = Times(warm_up=1, seconds=arguments.seconds)
    with _filled_installation(arguments, users) as installation, installation.server() as server:
        admin = fixtures.AdminClient(server.port, installation.environment["ADMIN_PASSWORD"])
        print(_LINE.format("", "a second", "p50 ms", "p99 ms", "server ms", "db ms"))
        for title, workload, data in fixtures.rows(admin):
            if arguments.only and arguments.only not in title:
                continue
            connections = arguments.connections if workload == "replay" else 16
            target = Target(server, installation.database, data)
            result = measure_row(Row(workload, title, connections), target, times)
            print(_line(title, result), flush=True)
            results[_COUNT.sub("", title)] = result
    return results


def _line(title: str, result: dict[str, Any]) -> str:
    if result["errors"]:
        return f"{title:44} no result: {json.dumps(result['messages'])[:200]}"
    numbers = ("per_second", "p50", "p99", "server_ms", "database_ms")
    return _LINE.format(title, *(f"{result[name]:,.1f}" for name in numbers))


def _latency(result: dict[str, Any] | None) -> str:
    if result is None or result["errors"]:
        return "no result" if result else "-"
    return f"{result['p50']:,.1f} / {result['p99']:,.1f}"


def _table(sizes: dict[int, Results]) -> tables.Table:
    latencies = [f"{users:,} users: p50 / p99 ms" for users in sizes]
    table = [["row", *latencies, "a second", "CPU ms, server", "CPU ms, database"]]
    for title, result in list(sizes.values())[-1].items():
        names = ("per_second", "server_ms", "database_ms")
        costs = ["-"] * 3 if result["errors"] else [f"{result[name]:,.2f}" for name in names]
        table.append([title, *(_latency(results.get(title)) for results in sizes.values()), *costs])
    return table


def main(arguments: argparse.Namespace) -> int:
    """Measure each size; return 1 if a row had errors."""
    sizes = {users: _measure_size(arguments, users) for users in arguments.users}
    table = _table(sizes)
    if len(sizes) > 1:
        print("", tables.aligned(table), sep="\n")
    failed = any(result["errors"] for results in sizes.values() for result in results.values())
    if arguments.write and not failed:
        largest = ", ".join(f"{_size(arguments, name):,} {name}" for name in _SIZES)
        note = f"Largest size: {largest}. Rates and CPU are of the largest size."
        link = sections.write_result("scale", "Many rows", f"{tables.markdown(table)}\n\n{note}")
        rows = [line for line in table if line[0] in ("row", *_ON_PAGE)]
        sections.update_page(scale=f"{tables.markdown(rows)}\n\n{note} [All rows]({link}).")
    return 1 if failed else 0
