"""Measure the costs of a request and of a row, and calculate an installation for 100 million accounts.

Needs a PostgreSQL server with the extension pg_walinspect that nothing else uses: what a step writes is
read from the server's write-ahead log. ``--write`` updates docs/scale.md.
"""

import argparse
import textwrap
import time
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final

import psycopg
from psycopg.sql import SQL, Identifier

from bench import capacity_plan, report, sections, servers, tables
from bench.capacity_plan import Cost, Costs, Size, Sizes
from bench.measure import ROWS, Row, Times, require_row
from bench.processes import ROOT, Failed
from bench.servers import Installation, Target

PAGE: Final = ROOT / "docs" / "scale.md"
_MEASURED: Final = ("login", "refresh", "userinfo", "client-credentials")
_FILLED_USERS: Final = 100_000
TABLES: Final = ("users_user", "identity_sessions_session", "grants_refreshfamily", "audit_entry")
_OTHER_SESSIONS: Final = """
SELECT count(*) FROM pg_stat_activity
WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname <> %s
"""
# Without the first page of each index, which has no rows.
_SIZE: Final = """
SELECT pg_relation_size({name}), pg_indexes_size({name})
    - (SELECT 8192 * count(*) FROM pg_index WHERE indrelid = {name}::regclass), (SELECT count(*) FROM {table})
"""
_WRITTEN: Final = """
SELECT sum(record_size)::float8, coalesce(sum(count) FILTER (WHERE "resource_manager/record_type"
    LIKE 'Transaction/COMMIT%%'), 0)::float8
FROM pg_get_wal_stats(%s, %s, true)
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=6, help="of a row (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=3, help="default: %(default)s")
    parser.add_argument("--write", action="store_true", help="also update docs/scale.md")


@dataclass(frozen=True, slots=True)
class Written:
    """How far the database has written: the end of its write-ahead log, and the number of audit entries."""

    lsn: str
    entries: int

    @classmethod
    def read(cls, connection: psycopg.Connection) -> "Written":
        query = "SELECT pg_current_wal_flush_lsn()::text, (SELECT count(*) FROM audit_entry)"
        lsn, entries = connection.execute(query).fetchone() or ("", 0)
        return cls(lsn, entries)


def _measure(row: Row, target: Target, connection: psycopg.Connection, seconds: float) -> Cost:
    """Measure a row once."""
    found: list[Written] = []

    def read() -> None:
        found.append(Written.read(connection))

    result = require_row(row, target, Times(warm_up=2, seconds=seconds), read, read)
    before, after = found
    wal, commits = _written_between(connection, before.lsn, after.lsn)
    steps = result["steps"]
    return Cost(
        result["server_ms"],
        result["database_ms"],
        commits / steps,
        wal / steps,
        (after.entries - before.entries) / steps,
        result["other_load"],
    )


def _written_between(connection: psycopg.Connection, start: str, end: str) -> tuple[float, float]:
    """Return the bytes of WAL without full-page images, and the number of commits that write."""
    if start == end:
        return 0.0, 0.0
    return connection.execute(_WRITTEN, [start, end]).fetchone() or (0.0, 0.0)


def _measure_costs(installation: Installation, arguments: argparse.Namespace) -> Costs:
    """Return the median cost of each row; print each run."""
    url = installation.database.url
    rows = [row for row in ROWS if row.name in _MEASURED]
    found: dict[str, list[Cost]] = {row.name: [] for row in rows}
    with installation.server() as server, psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION pg_walinspect")
        target = Target(server, installation.database, installation.data)
        for _ in range(arguments.runs):
            for row in rows:
                _require_quiet(connection)
                found[row.name].append(_measure(row, target, connection, arguments.seconds))
                print(row.title, found[row.name][-1], flush=True)
    return {name: _median(costs) for name, costs in found.items()}


def _require_quiet(connection: psycopg.Connection) -> None:
    """Check that no other database of the server is in use: its writes would be counted.

    Raises:
        Failed: another database is in use.
    """
    ours = connection.info.dbname
    maintenance = 1  # the session of bench that dropped and created the database
    (others,) = connection.execute(_OTHER_SESSIONS, [ours]).fetchone() or (0,)
    if others > maintenance:
        raise Failed("programs use other databases of this PostgreSQL server: set TEST_DATABASE_URL")


def _median(costs: list[Cost]) -> Cost:
    return Cost(*(median(getattr(cost, field.name) for cost in costs) for field in fields(Cost)))


def _measure_sizes(installation: Installation) -> Sizes:
    """Return the bytes of a row of each table. The users are filled in, the load wrote the other rows."""
    installation.fill("--more", f"--users={_FILLED_USERS}")
    with psycopg.connect(installation.database.url, autocommit=True) as connection:
        return dict(_sizes(connection))


def _sizes(connection: psycopg.Connection) -> Iterator[tuple[str, Size]]:
    for table in TABLES:
        connection.execute(SQL("VACUUM FULL {}").format(Identifier(table)))
        query = SQL(_SIZE).format(name=table, table=Identifier(table))
        own, indexes, rows = connection.execute(query).fetchone() or (0, 0, 1)
        yield table, Size(own / rows, (own + indexes) / rows, rows)


def _cost_table(costs: Costs) -> tables.Table:
    head = ["Operation", "CPU ms, server", "CPU ms, database", "commits that write", "WAL", "audit entries"]
    table = [head]
    titles = {row.name: row.title for row in ROWS}
    for name, cost in costs.items():
        numbers = (f"{cost.server_ms:.2f}", f"{cost.database_ms:.2f}", f"{cost.commits:.1f}")
        table.append([titles[name], *numbers, f"{cost.wal / 1000:.1f} KB", f"{cost.entries:.1f}"])
    return table


def _size_table(sizes: Sizes) -> tables.Table:
    table = [["Table", "row", "with indexes", "measured from"]]
    for name, size in sizes.items():
        table.append([f"`{name}`", f"{size.row:.0f}", f"{size.with_indexes:.0f}", f"{size.rows:,} rows"])
    return table


def _facts(costs: Costs, installation: Installation, arguments: argparse.Namespace) -> str:
    other = max(cost.other_load for cost in costs.values())
    advice = ", which raises the CPU times: repeat it on a quiet machine" if other > tables.NOISE else ""
    machine, versions = report.machine(), report.versions()
    settings = ", ".join(f"{name} {value}" for name, value in installation.database.settings)
    text = (
        f"Measured on {datetime.now(tz=UTC).date().isoformat()} at {versions['gatehouse']}: the median of"
        f" {arguments.runs} runs of {arguments.seconds:.0f} seconds, on {machine['processors']} processors"
        f" ({machine['processor']}, {machine['memory_gib']} GiB, {machine['system']}), Python"
        f" {versions['python']}, {installation.database.version} ({settings}), Argon2id"
        f" {versions['Argon2id']}. The load, the server and the database shared the processors, of which"
        f" other programs used {100 * other:.0f} %{advice}."
    )
    return textwrap.fill(text, 100)


def _sections(installation: Installation, arguments: argparse.Namespace) -> dict[str, Any]:
    costs = _measure_costs(installation, arguments)
    sizes = _measure_sizes(installation)
    return {
        "measured": _facts(costs, installation, arguments),
        "costs": tables.markdown(_cost_table(costs)),
        "sizes": tables.markdown(_size_table(sizes)),
        "loads": tables.markdown(capacity_plan.loads(costs)),
        "parts": tables.markdown(capacity_plan.parts(costs, sizes)),
    }


def main(arguments: argparse.Namespace) -> int:
    """Measure and calculate."""
    started = time.perf_counter()
    with servers.new_installation() as installation:
        if not installation.database.url.startswith("postgres"):
            raise Failed(installation.database.note)
        new = _sections(installation, arguments)
    print("", *new.values(), f"{time.perf_counter() - started:.0f} s", sep="\n\n")
    if arguments.write:
        sections.update_page(PAGE, **new)
    return 0
