"""Measure requests per second, latency, CPU and memory beside another provider.

The command creates the database, keys, files and servers it measures, and deletes them at the end. It
connects only to 127.0.0.1. The repository changes only with ``--write``.
"""

import argparse
import json
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench import measure, peer_comparison, report, sanity, sections, servers, tables
from bench.measure import BASELINE, LIMITS, ROWS, Row, Times
from bench.peer_comparison import Peer
from bench.processes import Failed
from bench.servers import Installation, Target

_QUICK: Final = Times(warm_up=0.5, seconds=2, limit=1)
_FULL: Final = Times(warm_up=3, seconds=6, limit=2)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(row.name for row in ROWS)
    parser.add_argument("--quick", action="store_true", help="one run of 2 seconds a row, not three of 6")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write every figure of every run")
    parser.add_argument("--write", action="store_true", help="also update docs/performance.md")
    parser.add_argument("--sqlite", action="store_true", help="use SQLite")
    parser.add_argument("--alone", action="store_true", help="do not measure the other provider")
    parser.add_argument(
        "--only",
        action="append",
        choices=[row.name for row in ROWS],
        metavar="ROW",
        help=f"one of {names}; may be repeated",
    )


class Benchmark:
    """A measurement from start to end."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.times = _QUICK if arguments.quick else _FULL
        self.run_count = 1 if arguments.quick else 3
        self.rows = [row for row in ROWS if not arguments.only or row.name in arguments.only]
        self.started = time.perf_counter()

    def progress(self, text: str) -> None:
        print(f"{time.perf_counter() - self.started:6.1f} s  {text}", flush=True)

    def measure(self, stack: ExitStack) -> dict[str, Any]:
        """Start all servers and measure everything."""
        installation = stack.enter_context(servers.new_installation(sqlite=self.arguments.sqlite))
        database = installation.database
        self.progress(f"prepared a new database on {database.version}. {database.note}")
        starts = [self._start(installation) for _ in range(self.run_count)]
        server = stack.enter_context(installation.server())
        target = Target(server, database, installation.data)
        peer = self._prepare_peer(stack, installation)
        peers = self._start_peers(stack, peer)
        sanity.check(target)
        time.sleep(1)
        idle = measure.worker_memory(server)
        runs = [self._run(number, target, peers, installation) for number in range(1, self.run_count + 1)]
        return {
            "date": datetime.now(tz=UTC).date().isoformat(),
            "machine": report.machine(),
            "versions": report.versions() | {"database": database.version},
            "settings": self._settings(installation),
            "note": database.note,
            "starts": starts,
            "memory": {"idle": idle, "after": measure.worker_memory(server)},
            "peer": self._describe_peer(peer, peers),
            "runs": runs,
        }

    def _start(self, installation: Installation) -> float:
        with installation.server() as server:
            self.progress(f"start to first answer: {server.first_answer:.2f} s")
            return server.first_answer

    def _prepare_peer(self, stack: ExitStack, installation: Installation) -> Peer | None:
        reason = "--alone" if self.arguments.alone else peer_comparison.why_missing()
        if not installation.database.url.startswith("postgres"):
            reason = "it needs PostgreSQL"
        if reason:
            self.progress(f"the other provider is not measured: {reason}")
            return None
        usernames = installation.data["usernames"]
        return stack.enter_context(peer_comparison.new_peer(installation.folder, usernames))

    def _start_peers(self, stack: ExitStack, peer: Peer | None) -> dict[str, Target]:
        """Start the other provider once for each number of processes."""
        peers: dict[str, Target] = {}
        if peer is not None:
            for count in peer_comparison.PROCESSES:
                peers[str(count)] = stack.enter_context(peer.serve(count))
                sanity.check(peers[str(count)])
        return peers

    def _describe_peer(self, peer: Peer | None, peers: dict[str, Target]) -> dict[str, Any] | None:
        if peer is None:
            return None
        starts = []
        for _ in range(self.run_count):
            with peer.serve(2) as target:
                starts.append(target.server.first_answer)
        memory = measure.worker_memory(peers["2"].server)
        return {"version": peer_comparison.version(), "starts": starts, "memory": memory}

    def _settings(self, installation: Installation) -> dict[str, Any]:
        environment = installation.environment
        return {
            "runs": self.run_count,
            "seconds": self.times.seconds,
            "warm_up": self.times.warm_up,
            **{name: environment[name] for name in servers.TUNABLE if name in environment},
            **{f"database {name}": value for name, value in installation.database.settings},
        }

    def _run(
        self, number: int, target: Target, peers: dict[str, Target], installation: Installation
    ) -> dict[str, Any]:
        """Measure the limits once, then each row: Gatehouse first, the other provider right after it."""
        label = f"run {number} of {self.run_count}"
        limits: dict[str, float] = {}
        for name in LIMITS:
            if name != BASELINE.name:
                limits[name] = measure.measure_limit(name, installation.environment, self.times.limit)
                self.progress(f"{label}: {LIMITS[name]}: {limits[name]:,.0f}/s")
        with installation.baseline() as server:
            baseline = self._row(label, BASELINE, Target(server, None, target.data))
        limits[BASELINE.name] = baseline.get("per_second", 0.0)
        rows = {BASELINE.name: baseline}
        peer_rows: dict[str, dict[str, Any]] = {count: {} for count in peers}
        for row in self.rows:
            rows[row.name] = self._row(label, row, target)
            if row.compared_with:
                continue
            for count, peer in peers.items():
                peer_label = f"{label}, other provider, processes: {count}"
                peer_rows[count][row.name] = self._row(peer_label, row, peer)
        return {"limits": limits, "rows": rows, "peer": peer_rows}

    def _row(self, label: str, row: Row, target: Target) -> dict[str, Any]:
        result = measure.measure_row(row, target, self.times)
        text = f"no result: {result['messages'][0]}" if result["errors"] else f"{result['per_second']:,.0f}/s"
        self.progress(f"{label}: {row.title}: {text}")
        return result


def main(arguments: argparse.Namespace) -> int:
    """Measure and report; return 1 if a row had errors.

    Raises:
        Failed: ``--write`` needs a complete run.

    """
    is_partial = arguments.quick or arguments.only or arguments.sqlite or arguments.alone
    if arguments.write and (is_partial or peer_comparison.why_missing()):
        raise Failed(f"--write needs a complete run. {peer_comparison.why_missing()}")
    with ExitStack() as stack:
        measurements = Benchmark(arguments).measure(stack)
    summary = report.summarize(measurements)
    print(tables.text(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps(measurements | {"summary": summary}, indent=2) + "\n")
    failed = [row for row in summary["rows"] if row["errors"]]
    if arguments.write and not failed:
        sections.update_page(**tables.page(summary))
        sections.write_result("run", "Requests per second", tables.result(summary))
    return 1 if failed else 0
