"""Watch memory, errors and latency for half an hour of mixed load at half of the capacity.

Prints a line a minute. The command fails if a request failed, if a worker was replaced, or if a
worker's resident memory grew by more than 1 MiB in ten minutes over the last two thirds.
"""

import argparse
import json
import statistics
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Final

from bench import processes, sections, servers, tables
from bench.fixtures import AdminClient
from bench.measure import Row, Times, require_row, worker_memory
from bench.servers import Installation, Server, Target

# The share of each row in the load.
_MIX: Final = {
    Row("login", "logins", 8): 0.30,
    Row("refresh", "refreshes", 16): 0.20,
    Row("client-credentials", "client credentials", 16): 0.15,
    Row("userinfo", "userinfo", 16): 0.15,
    Row("session-context", "session context", 16): 0.10,
    Row("replay", "users list", 8): 0.10,
}
_MOST_GROWTH: Final = 1.0  # MiB in ten minutes
_CALIBRATION: Final = Times(warm_up=1, seconds=3)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--minutes", type=int, default=30, help="default: %(default)s")
    parser.add_argument("--minute", type=float, default=60, help="seconds of a minute (default: %(default)s)")
    parser.add_argument(
        "--load", type=float, default=0.5, help="share of the capacity (default: %(default)s)"
    )
    parser.add_argument("--sqlite", action="store_true", help="use SQLite")
    parser.add_argument("--write", action="store_true", help="also update docs/performance.md")


def _calibrated_streams(target: Target, installation: Installation, load: float) -> Iterator[dict[str, Any]]:
    """Yield a stream of each row, at rates that together are this share of the capacity."""
    admin = AdminClient(target.server.port, installation.environment["ADMIN_PASSWORD"])
    lists = admin.list_requests("/users") | {"usernames": target.data["usernames"]}
    for row, share in _MIX.items():
        data = lists if row.name == "replay" else target.data
        capacity = require_row(row, Target(target.server, None, data), _CALIBRATION)["per_second"]
        rate = capacity * share * load
        print(f"{row.title}: {rate:,.1f} a second, of {capacity:,.0f} alone", flush=True)
        yield {"row": row.name, "rate": rate, "clients": row.connections, "data": data}


class Watch:
    """The table of minutes, and what went wrong."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.workers = server.workers()
        self.memory: dict[int, list[float]] = {pid: [] for pid in self.workers}
        memory_headings = [f"worker {number}, MiB" for number in range(1, len(self.workers) + 1)]
        headings = ["minute", *(f"{row.title}, p99 ms" for row in _MIX), "steps", "failed", *memory_headings]
        self.table = [headings]
        self.failed = 0
        self.messages: list[str] = []

    def add_minute(self, results: dict[str, dict[str, Any]]) -> None:
        steps = sum(sum(stream["outcomes"].values()) for stream in results.values())
        failed = sum(stream["errors"] for stream in results.values())
        self.failed += failed
        self.messages += [
            f"{name}: {text}" for name, stream in results.items() for text in stream["messages"]
        ]
        if self.server.workers() != self.workers:
            self.failed += 1
            self.messages.append("a worker was replaced")
            self.workers = self.server.workers()
        for pid, memory in zip(self.workers, worker_memory(self.server), strict=True):
            self.memory.setdefault(pid, []).append(memory["rss"])
        latencies = [f"{results[row.name]['p99']:,.1f}" for row in _MIX]
        sizes = [f"{self.memory[pid][-1]:.1f}" for pid in self.workers]
        self.table.append([str(len(self.table)), *latencies, f"{steps:,}", str(failed), *sizes])
        print(tables.aligned([self.table[0], self.table[-1]]).splitlines()[-1], flush=True)

    def growth(self, minute: float) -> float:
        """Return the MiB in ten minutes by which the fastest-growing worker grew after the first third."""
        return max(_slope(sizes[len(sizes) // 3 :]) * 600 / minute for sizes in self.memory.values())


def _slope(sizes: list[float]) -> float:
    """Return the median of all slopes (Theil-Sen), which ignores the 19 MiB of a hash that is running."""
    slopes = [(b - a) / (j - i) for (i, a), (j, b) in combinations(enumerate(sizes), 2)]
    return statistics.median(slopes) if slopes else 0.0


def _send_load(
    server: Server, streams: list[dict[str, Any]], arguments: argparse.Namespace
) -> Iterator[dict[str, dict[str, Any]]]:
    """Send the load; yield the results of each minute."""
    job = {
        "port": server.port,
        "seconds": arguments.minute,
        "windows": arguments.minutes,
        "streams": streams,
    }
    load = processes.start_load("bench.open_loop", job)
    assert load.stdout is not None
    try:
        yield from (json.loads(line) for line in load.stdout)
    finally:
        processes.stop(load)


def main(arguments: argparse.Namespace) -> int:
    """Watch the server under load; return 1 if a check failed."""
    with servers.new_target(sqlite=arguments.sqlite) as (target, installation):
        streams = list(_calibrated_streams(target, installation, arguments.load))
        watch = Watch(target.server)
        print("  ".join(watch.table[0]), flush=True)
        for results in _send_load(target.server, streams, arguments):
            watch.add_minute(results)
    growth = watch.growth(arguments.minute)
    minutes = len(watch.table) - 1
    summary = (
        f"{minutes} minutes at {100 * arguments.load:.0f} % of capacity: {watch.failed} requests failed. "
        f"The resident memory of a worker changed by {growth:+.2f} MiB in ten minutes over the last two"
        " thirds."
    )
    print(summary, *watch.messages[:10], sep="\n")
    if arguments.write:
        text = f"{summary}\n\n{tables.markdown(watch.table)}"
        link = sections.write_result("soak", "Half an hour of mixed load", text)
        sections.update_page(soak=f"{summary} [Minute by minute]({link}).")
    is_complete = minutes == arguments.minutes
    return 0 if is_complete and not watch.failed and growth <= _MOST_GROWTH else 1
