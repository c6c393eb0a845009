"""Whether a request is slower among ten thousand tenants than with one.

    python bench/tenants.py [--tenants 10000] [--write]

Two servers on two databases that differ in nothing else take turns, row by row. Fails if a row among
many tenants has more than ten per cent fewer requests a second.
"""

import argparse
import statistics
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, Final

import measure
import psycopg
import sections
import stage
import tables
from measure import ROWS, Row, Times
from wire import get

_ALLOWED: Final = 0.9
_ANY: Final = Row("given", "what people are offered, tenants in turn", 16, "")
_FILLING: Final = 3600  # seconds, at most


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Compare many tenants with one.")
    parser.add_argument("--tenants", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--users-each", type=int, default=10, help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=4, help="a row (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--write", action="store_true", help="also write it into docs/performance.md")
    return parser.parse_args()


@dataclass(frozen=True, slots=True)
class Side:
    """A server, and what its clients know."""

    server: stage.Server
    database: stage.Database
    world: dict[str, Any]


@contextmanager
def _side(name: str, tenants: int, users_each: int) -> Iterator[Side]:
    with ExitStack() as stack:
        place = stack.enter_context(stage.place())
        database = stack.enter_context(stage.database(place, sqlite=False, of=f"bench_{name}"))
        environment = stage.environment(place, database.url)
        world = stage.seed(environment)
        if tenants:
            sizes = ["--tenants", str(tenants), "--users-each", str(users_each), "--more"]
            command = [sys.executable, str(stage.BENCH / "fill.py"), "--database-url", database.url, *sizes]
            stage.output_of(command, environment, within=_FILLING)
        server = stack.enter_context(stage.server(environment))
        prefixes = [f"/t/{slug}" for slug in _slugs(database)]
        asked = [get(f"{prefix}/api/interaction/sign-in-experience").decode() for prefix in prefixes]
        yield Side(server, database, world | {"given": asked})


def _slugs(database: stage.Database) -> list[str]:
    """Return the tenants in no order, so that no cache has the next one."""
    with psycopg.connect(database.url) as connection:
        found = connection.execute(
            "SELECT slug FROM tenants_tenant WHERE slug <> 'default' ORDER BY md5(slug)"
        )
        return [slug for (slug,) in found]


def _compared(row: Row, sides: list[Side], arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure a row on both sides in turn; return the medians."""
    times = Times(warm_up=1, seconds=arguments.seconds, limit=0)
    found: list[list[dict[str, Any]]] = []
    for _ in range(arguments.runs):
        pair = [measure.row(row, side.server, side.database, side.world, times) for side in sides]
        failed = [result["said"][0] for result in pair if result["errors"]]
        if failed:
            raise stage.Failed(f"{row.title}: {failed[0]}")
        found.append(pair)
    names = ("per_second", "p99", "server_ms", "database_ms")
    medians = [
        {name: statistics.median(pair[side][name] for pair in found) for name in names} for side in (0, 1)
    ]
    ratio = statistics.median(many["per_second"] / one["per_second"] for one, many in found)
    print(f"{row.title}: {ratio:.2f}", flush=True)
    return {"title": row.title, "one": medians[0], "many": medians[1], "ratio": ratio}


def _cells(row: dict[str, Any]) -> list[str]:
    sides = [
        [f"{side['per_second']:,.0f}", f"{side['p99']:.1f}", f"{side['server_ms'] + side['database_ms']:.2f}"]
        for side in (row["one"], row["many"])
    ]
    return [row["title"], *sides[0], *sides[1], f"{row['ratio']:.2f}"]


def main() -> int:
    """Compare, row by row."""
    arguments = _arguments()
    with ExitStack() as stack:
        sides = [
            stack.enter_context(_side("one", 0, 0)),
            stack.enter_context(_side("many", arguments.tenants, arguments.users_each)),
        ]
        rows = [_compared(row, sides, arguments) for row in (*ROWS, _ANY)]
    side = ("a second", "p99 ms", "CPU ms, server and database")
    heads = [*(f"one tenant: {name}" for name in side), *(f"{arguments.tenants:,}: {name}" for name in side)]
    table = [["row", *heads, "ratio"], *(_cells(row) for row in rows)]
    print("", tables.aligned(table), sep="\n")
    if arguments.write:
        sections.write(tenants=tables.markdown(table))
    return 0 if all(row["ratio"] >= _ALLOWED for row in rows) else 1


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
