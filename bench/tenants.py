"""Compare the requests per second with ten thousand tenants to those with one.

Two servers on two databases that differ only in the tenants are measured in turns. The command
fails if a row has more than ten per cent fewer requests per second with many tenants.
"""

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any, Final

import psycopg

from bench import sections, servers, tables
from bench.databases import Database
from bench.measure import ROWS, Row, Times, require_row
from bench.servers import Target
from bench.wire import get

_LEAST_RATIO: Final = 0.9
_EVERY_TENANT: Final = Row("replay", "sign-in experience, tenants in turn", 16)
_FIGURES: Final = ("a second", "p99 ms", "CPU ms, server and database")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tenants", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--users-each", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=4, help="of a row (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--write", action="store_true", help="also update docs/performance.md")


@contextmanager
def _new_target(name: str, tenants: int, users_each: int) -> Iterator[Target]:
    with servers.new_installation(name=f"bench_{name}") as installation:
        if tenants:
            installation.fill("--tenants", str(tenants), "--users-each", str(users_each), "--more")
        with installation.server() as server:
            prefixes = [f"/t/{slug}" for slug in _shuffled_slugs(installation.database)]
            requests = [get(f"{prefix}/api/interaction/sign-in-experience").decode() for prefix in prefixes]
            yield Target(server, installation.database, installation.data | {"requests": requests})


def _shuffled_slugs(database: Database) -> list[str]:
    """Return the tenants in an order that no cache profits from."""
    with psycopg.connect(database.url) as connection:
        rows = connection.execute(
            "SELECT slug FROM tenants_tenant WHERE slug <> 'default' ORDER BY md5(slug)"
        )
        return [slug for (slug,) in rows]


def _compare(row: Row, one: Target, many: Target, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a row on both targets in turn; return the medians."""
    times = Times(warm_up=1, seconds=arguments.seconds)
    pairs = [(require_row(row, one, times), require_row(row, many, times)) for _ in range(arguments.runs)]
    names = ("per_second", "p99", "server_ms", "database_ms")
    medians = [{name: median(pair[side][name] for pair in pairs) for name in names} for side in (0, 1)]
    ratio = median(after["per_second"] / before["per_second"] for before, after in pairs)
    print(f"{row.title}: {ratio:.2f}", flush=True)
    return {"title": row.title, "one": medians[0], "many": medians[1], "ratio": ratio}


def _cells(row: dict[str, Any]) -> list[str]:
    cells = [row["title"]]
    for side in (row["one"], row["many"]):
        cpu = side["server_ms"] + side["database_ms"]
        cells += [f"{side['per_second']:,.0f}", f"{side['p99']:.1f}", f"{cpu:.2f}"]
    return [*cells, f"{row['ratio']:.2f}"]


def main(arguments: argparse.Namespace) -> int:
    """Compare each row; return 1 if one is too slow."""
    with ExitStack() as stack:
        one = stack.enter_context(_new_target("one", 0, 0))
        many = stack.enter_context(_new_target("many", arguments.tenants, arguments.users_each))
        rows = [_compare(row, one, many, arguments) for row in (*ROWS, _EVERY_TENANT)]
    headings = [
        f"{size}: {figure}" for size in ("one tenant", f"{arguments.tenants:,}") for figure in _FIGURES
    ]
    table = [["row", *headings, "ratio"], *(_cells(row) for row in rows)]
    print("", tables.aligned(table), sep="\n")
    slowest = min(row["ratio"] for row in rows)
    if arguments.write:
        link = sections.write_result("tenants", f"{arguments.tenants:,} tenants", tables.markdown(table))
        summary = (
            f"At least {slowest:.2f} times the requests a second of one tenant, "
            f"with {arguments.tenants:,} tenants."
        )
        sections.update_page(tenants=f"{summary} [All rows]({link}).")
    return 0 if slowest >= _LEAST_RATIO else 1
