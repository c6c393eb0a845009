"""Measures Gatehouse beside another provider, and beside what the machine can do: ``make bench``.

Everything is made for the measurement and thrown away: database, keys, files, servers. Only
127.0.0.1 is talked to. The repository is left alone, unless ``--write`` asks for the page.
"""

import argparse
import json
import sys
import time
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import beside
import measure
import proof
import report
import sections
import stage
import tables
from beside import Beside
from measure import FLOOR, LIMITS, ROWS, Row, Times

_QUICK: Final = Times(warm_up=0.5, seconds=2, limit=1)
_FULL: Final = Times(warm_up=3, seconds=6, limit=2)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure Gatehouse beside the limits of this machine.")
    parser.add_argument("--quick", action="store_true", help="2 seconds a row and one run, not 6 and three")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write everything that was measured")
    parser.add_argument("--write", action="store_true", help="also write docs/performance.md")
    parser.add_argument("--sqlite", action="store_true", help="measure on SQLite")
    parser.add_argument("--alone", action="store_true", help="without another provider beside ours")
    parser.add_argument(
        "--only",
        action="append",
        choices=[row.name for row in ROWS],
        metavar="ROW",
        help=f"one of {', '.join(row.name for row in ROWS)}; may be repeated",
    )
    arguments = parser.parse_args()
    parts = arguments.quick or arguments.only or arguments.sqlite or arguments.alone
    if arguments.write and (parts or beside.missing()):
        parser.error(f"--write wants a whole run, on PostgreSQL. {beside.missing()}")
    return arguments


class Progress:
    """One line a thing that is done, as it is done."""

    def __init__(self) -> None:
        self.began = time.perf_counter()

    def say(self, text: str) -> None:
        """Print a line with the time that has passed."""
        print(f"{time.perf_counter() - self.began:6.1f} s  {text}", flush=True)


@dataclass(frozen=True, slots=True)
class Contender:
    """A server that is measured, and what its clients know."""

    server: stage.Server
    database: stage.Database
    world: dict[str, Any]


class Bench:
    """One measurement from start to end."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.quick: bool = arguments.quick
        self.alone: bool = arguments.alone
        self.times = _QUICK if self.quick else _FULL
        self.runs = 1 if self.quick else 3
        self.rows = [row for row in ROWS if not arguments.only or row.name in arguments.only]
        self.progress = Progress()

    def measure(self, stack: ExitStack, *, sqlite: bool) -> dict[str, Any]:
        """Set the stage and measure everything."""
        place = stack.enter_context(stage.place())
        database = stack.enter_context(stage.database(place, sqlite=sqlite))
        self.progress.say(f"preparing a new database on {database.version}")
        if database.note:
            self.progress.say(database.note)
        environment = stage.environment(place, database.url)
        world = stage.seed(environment)
        starts = [self._start("ours", stage.server(environment)) for _ in range(self.runs)]
        server = stack.enter_context(stage.server(environment))
        other = self._beside(stack, place, database, world)
        theirs = self._theirs(stack, other)
        proof.prove(server.port, world)
        time.sleep(1)
        idle = measure.memory(server)
        ours = Contender(server, database, world)
        runs = [self._run(number, ours, theirs, environment) for number in range(self.runs)]
        return {
            "date": datetime.now(tz=UTC).date().isoformat(),
            "machine": report.machine(),
            "versions": report.versions() | {"database": database.version},
            "settings": self._settings(environment)
            | {f"database {k}": v for k, v in database.settings.items()},
            "note": database.note,
            "starts": starts,
            "memory": {"idle": idle, "after": measure.memory(server)},
            "beside": self._described(other, theirs),
            "runs": runs,
        }

    def _beside(
        self, stack: ExitStack, place: Path, database: stage.Database, world: dict[str, Any]
    ) -> Beside | None:
        """Prepare the other provider, or say why it is left out."""
        why = "--alone" if self.alone else beside.missing()
        if not database.url.startswith("postgres"):
            why = "it keeps what it keeps in PostgreSQL"
        if why:
            self.progress.say(f"no other provider is measured: {why}")
            return None
        return stack.enter_context(beside.prepared(place, world["usernames"]))

    def _theirs(self, stack: ExitStack, other: Beside | None) -> dict[str, Contender]:
        """Start the other provider, once for each number of processes."""
        theirs: dict[str, Contender] = {}
        for processes in beside.PROCESSES if other else ():
            assert other is not None
            server = stack.enter_context(other.server(processes))
            proof.prove(server.port, other.world_of(server))
            theirs[str(processes)] = Contender(server, other.database, other.world_of(server))
        return theirs

    def _described(self, other: Beside | None, theirs: dict[str, Contender]) -> dict[str, Any] | None:
        if other is None:
            return None
        return {
            "version": beside.version(),
            "starts": [self._start("the other provider", other.server(2)) for _ in range(self.runs)],
            "memory": measure.memory(theirs["2"].server),
        }

    def _settings(self, environment: dict[str, str]) -> dict[str, Any]:
        return {
            "runs": self.runs,
            "seconds": self.times.seconds,
            "warm_up": self.times.warm_up,
            **{name: environment[name] for name in stage.TUNABLE if name in environment},
        }

    def _start(self, whose: str, starting: AbstractContextManager[stage.Server]) -> float:
        with starting as server:
            self.progress.say(f"start to first answer, {whose}: {server.first_answer:.2f} s")
            return server.first_answer

    def _run(
        self, number: int, ours: Contender, theirs: dict[str, Contender], environment: dict[str, str]
    ) -> dict[str, Any]:
        """Measure the limits, then each row, once: ours, and at once the same row of the other."""
        label = f"run {number + 1} of {self.runs}"
        found: dict[str, Any] = {"limits": {}, "rows": {}, "beside": {processes: {} for processes in theirs}}
        for name in LIMITS:
            if name != FLOOR.name:
                rate = measure.limit(name, environment, self.times.limit)
                self.progress.say(f"{label}: limit, {LIMITS[name]}: {rate:,.0f}/s")
                found["limits"][name] = rate
        with stage.server(environment, floor=True) as floor:
            found["rows"][FLOOR.name] = self._row(label, FLOOR, floor, None, ours.world)
        found["limits"][FLOOR.name] = found["rows"][FLOOR.name].get("per_second", 0.0)
        for row in self.rows:
            found["rows"][row.name] = self._row(label, row, ours.server, ours.database, ours.world)
            for processes, other in theirs.items():
                said = f"{label}, the other provider, processes: {processes}"
                result = self._row(said, row, other.server, other.database, other.world)
                found["beside"][processes][row.name] = result
        return found

    def _row(
        self,
        label: str,
        row: Row,
        server: stage.Server,
        database: stage.Database | None,
        world: dict[str, Any],
    ) -> dict[str, Any]:
        result = measure.row(row, server, database, world, self.times)
        said = f"no result: {result['said'][0]}" if result["errors"] else f"{result['per_second']:,.0f}/s"
        self.progress.say(f"{label}: {row.title}: {said}")
        return result


def main() -> int:
    """Measure, report, and leave nothing behind."""
    arguments = _arguments()
    with ExitStack() as stack:
        found = Bench(arguments).measure(stack, sqlite=arguments.sqlite)
    summary = report.summary(found)
    print(tables.text(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps(found | {"summary": summary}, indent=2) + "\n")
    failed = [row for row in summary["rows"] if row["errors"]]
    if arguments.write and not failed:
        path = sections.write(**tables.page(summary))
        print(f"Wrote {path.relative_to(stage.ROOT)}.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
