"""Half an hour of everything at once, at half of what the machine can do: memory, errors, latency.

    python bench/soak.py [--minutes 30] [--load 0.5] [--write]

Prints a line a minute. Fails if a request failed, a worker was replaced, or a worker's resident memory
still grows at the end: by more than 1 MiB in ten minutes over the last two thirds.
"""

import argparse
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import combinations
from typing import Any, Final

import given
import measure
import sections
import stage
import tables
from measure import Row, Times

# What share of the work each kind is.
_MIX: Final = {
    Row("login", "logins", 8, ""): 0.30,
    Row("refresh", "refreshes", 16, ""): 0.20,
    Row("client-credentials", "client credentials", 16, ""): 0.15,
    Row("userinfo", "userinfo", 16, ""): 0.15,
    Row("session-context", "session context", 16, ""): 0.10,
    Row("given", "users list", 8, ""): 0.10,
}
_GROWTH: Final = 1.0  # MiB in ten minutes
_LEARN: Final = Times(warm_up=1, seconds=3, limit=0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Watch a server at work for a long time.")
    parser.add_argument("--minutes", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--minute", type=float, default=60, help="seconds of one (default: %(default)s)")
    parser.add_argument("--load", type=float, default=0.5, help="of what it can do (default: %(default)s)")
    parser.add_argument("--sqlite", action="store_true", help="on SQLite")
    parser.add_argument("--write", action="store_true", help="also write it into docs/performance.md")
    return parser.parse_args()


def _worlds(server: stage.Server, environment: dict[str, str], world: dict[str, Any]) -> dict[str, Any]:
    """Return what the clients of each row know."""
    caller = given.Caller(server.port, environment["ADMIN_PASSWORD"])
    lists = caller.gets("/users") | {"usernames": world["usernames"]}
    return {row.name: lists if row.name == "given" else world for row in _MIX}


def _streams(server: stage.Server, worlds: dict[str, Any], load: float) -> Iterator[dict[str, Any]]:
    """Yield so much of each row that all together are this share of what the machine can do."""
    for row, share in _MIX.items():
        result = measure.row(row, server, None, worlds[row.name], _LEARN)
        if result["errors"]:
            raise stage.Failed(f"{row.title}: {result['said'][0]}")
        rate = result["per_second"] * share * load
        print(f"{row.title}: {result['per_second']:,.0f} a second at most, {rate:,.1f} now", flush=True)
        yield {"row": row.name, "rate": rate, "clients": row.connections, "world": worlds[row.name]}


class Soak:
    """What was seen, minute by minute."""

    def __init__(self, server: stage.Server) -> None:
        self.server = server
        self.workers = server.workers()
        self.memory: dict[int, list[float]] = {pid: [] for pid in self.workers}
        self.lines: list[list[str]] = [
            [
                "minute",
                *(f"{row.title}, p99 ms" for row in _MIX),
                "steps",
                "failed",
                *(f"worker {n}, MiB" for n in range(1, len(self.workers) + 1)),
            ]
        ]
        self.failed = 0
        self.said: list[str] = []

    def note(self, found: dict[str, dict[str, Any]]) -> None:
        """Add a minute."""
        steps = sum(sum(stream["came_to"].values()) for stream in found.values())
        failed = sum(stream["errors"] for stream in found.values())
        self.failed += failed
        self.said += [f"{name}: {said}" for name, stream in found.items() for said in stream["said"]]
        if self.server.workers() != self.workers:
            self.failed += 1
            self.said.append("a worker was replaced")
            self.workers = self.server.workers()
        for pid, worker in zip(self.workers, measure.memory(self.server), strict=True):
            self.memory.setdefault(pid, []).append(worker["rss"])
        latencies = [f"{found[row.name]['p99']:,.1f}" for row in _MIX]
        sizes = [f"{self.memory[pid][-1]:.1f}" for pid in self.workers]
        self.lines.append([str(len(self.lines)), *latencies, f"{steps:,}", str(failed), *sizes])
        print(tables.aligned([self.lines[0], self.lines[-1]]).splitlines()[-1], flush=True)

    def growth(self, minute: float) -> float:
        """Return by how many MiB in ten minutes the worker that grows most does, after the first third."""
        return max(_slope(sizes[len(sizes) // 3 :]) * 600 / minute for sizes in self.memory.values())


def _slope(sizes: list[float]) -> float:
    """Return the median of all slopes (Theil and Sen): the 19 MiB of a password at work bend no line."""
    slopes = [(b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(sizes), 2)]
    return statistics.median(slopes) if slopes else 0.0


def _load(
    server: stage.Server, streams: list[dict[str, Any]], arguments: argparse.Namespace
) -> Iterator[Any]:
    """Send the load; yield what each minute had."""
    job = {
        "port": server.port,
        "seconds": arguments.minute,
        "windows": arguments.minutes,
        "streams": streams,
    }
    command = [sys.executable, str(stage.BENCH / "paced.py")]
    process = stage.start(command, {}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        with process.stdin:
            json.dump(job, process.stdin)
        yield from (json.loads(line) for line in process.stdout)
    finally:
        stage.stop(process)


def main() -> int:
    """Watch, and judge."""
    arguments = _arguments()
    with ExitStack() as stack:
        place = stack.enter_context(stage.place())
        database = stack.enter_context(stage.database(place, sqlite=arguments.sqlite))
        environment = stage.environment(place, database.url)
        world = stage.seed(environment)
        server = stack.enter_context(stage.server(environment))
        streams = list(_streams(server, _worlds(server, environment, world), arguments.load))
        soak = Soak(server)
        print("  ".join(soak.lines[0]), flush=True)
        for found in _load(server, streams, arguments):
            soak.note(found)
    growth = soak.growth(arguments.minute)
    minutes = len(soak.lines) - 1
    said = (
        f"{minutes} minutes at {100 * arguments.load:.0f} % of capacity: {soak.failed} requests failed; the "
        f"resident memory of a worker changed by {growth:+.2f} MiB in ten minutes over the last two thirds."
    )
    print(said, *soak.said[:10], sep="\n")
    if arguments.write:
        sections.write(soak=f"{said}\n\n{tables.markdown(soak.lines)}")
    finished = minutes == arguments.minutes
    return 0 if finished and not soak.failed and growth <= _GROWTH else 1


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
