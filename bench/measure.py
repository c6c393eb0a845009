"""Measure one row: run the load in a process of its own, and read the CPU clocks of the other processes."""

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from bench import limits, processes, procfs
from bench.servers import Server, Target

_SLACK: Final = 60  # seconds for preparing and ending


@dataclass(frozen=True, slots=True)
class Row:
    """A workload, its number of connections, and its goals.

    ``limit`` names the limit of the machine that the rate is compared with, and ``share`` is the wanted share
    of that limit. ``goal`` is the wanted ratio of the rate to the peer's rate, or to the rate of the row
    ``compared_with``.
    """

    name: str
    title: str
    connections: int
    limit: str = ""
    goal: float | None = None
    share: float | None = None
    compared_with: str = ""  # for a row that the peer does not have


ROWS: Final = (
    Row("client-credentials", "client credentials", 16, "commits", goal=1.0),
    Row("refresh", "refresh with rotation", 16, "commits", goal=1.5),
    Row("client-credentials-rs256", "client credentials, RS256", 16),
    Row("refresh-rs256", "refresh with rotation, RS256", 16),
    Row("userinfo", "userinfo", 16, "baseline", goal=1.0),
    Row("jwks", "JWKS", 16, "baseline"),
    Row("discovery", "discovery", 16, "baseline"),
    Row("login", "full login", 8, "argon2id", goal=1.0, share=0.75),
    Row("passkey-sign-in", "passkey sign-in", 8, goal=10.0, compared_with="login"),
)
BASELINE: Final = Row("baseline", "empty application", 16)
LIMITS: Final = {
    "es256": "ES256 signatures, one processor",
    "argon2id": "Argon2id hashes (19 MiB, t=2, p=1), all processors",
    "commits": "Single-row insert commits",
    "baseline": "Requests to an empty application in the same gunicorn",
}


@dataclass(frozen=True, slots=True)
class Times:
    """How many seconds a row warms up and is measured, and a limit is measured."""

    warm_up: float
    seconds: float
    limit: float = 0


@dataclass(frozen=True, slots=True)
class Clocks:
    """The CPU seconds of the server, its database and the machine at a moment."""

    at: float
    server: dict[int, float]
    database: dict[int, float]
    machine: float

    @classmethod
    def read(cls, target: Target) -> "Clocks":
        now = time.perf_counter()
        if not procfs.AVAILABLE:
            return cls(now, {}, {}, 0.0)
        return cls(
            now,
            procfs.cpu_of(target.server.processes()),
            procfs.cpu_of(target.database.processes()) if target.database else {},
            procfs.machine_busy(),
        )


def _do_nothing() -> None: ...


def measure_row(
    row: Row,
    target: Target,
    times: Times,
    on_start: Callable[[], None] = _do_nothing,
    on_end: Callable[[], None] = _do_nothing,
) -> dict[str, Any]:
    """Measure a row once; return rate, latencies, errors, and CPU milliseconds per step.

    ``on_start`` is called when the clients are warm and the measured time begins, ``on_end`` when it ends.

    Raises:
        Failed: the load ended without a result.

    """
    job = {
        "row": row.name,
        "port": target.server.port,
        "connections": row.connections,
        "data": target.data,
        "warm_up": times.warm_up,
        "seconds": times.seconds,
    }
    load = processes.start_load("bench.closed_loop", job)
    assert load.stdout is not None
    guard = threading.Timer(times.warm_up + times.seconds + _SLACK, load.kill)
    guard.start()
    try:
        clocks: list[Clocks] = []
        for line in load.stdout:
            if line.startswith("{"):
                return _with_cpu(json.loads(line), clocks)
            clocks.append(Clocks.read(target))
            (on_start if len(clocks) == 1 else on_end)()
        raise processes.Failed(f"the load of {row.title} ended without a result")
    finally:
        guard.cancel()
        processes.stop(load)


def require_row(
    row: Row,
    target: Target,
    times: Times,
    on_start: Callable[[], None] = _do_nothing,
    on_end: Callable[[], None] = _do_nothing,
) -> dict[str, Any]:
    """Measure a row once.

    Raises:
        Failed: a step had an error.

    """
    result = measure_row(row, target, times, on_start, on_end)
    if result["errors"]:
        raise processes.Failed(f"{row.title}: {result['messages'][0]}")
    return result


def _with_cpu(result: dict[str, Any], clocks: list[Clocks]) -> dict[str, Any]:
    steps = result.get("steps", 0)
    if not steps and not result["errors"]:
        result |= {"errors": 1, "messages": ["no step ended in the measured time"]}
    if result["errors"] or not procfs.AVAILABLE:
        return result
    before, after = clocks
    server = procfs.cpu_between(before.server, after.server)
    database = procfs.cpu_between(before.database, after.database)
    capacity = (after.at - before.at) * limits.processors()
    other = after.machine - before.machine - server - database - result["generator_cpu"]
    return result | {
        "server_ms": 1000 * server / steps,
        "database_ms": 1000 * database / steps if after.database else None,
        "generator_ms": 1000 * result["generator_cpu"] / steps,
        "other_load": max(0.0, other / capacity),
    }


def measure_limit(name: str, environment: dict[str, str], seconds: float) -> float:
    """Measure a limit of the machine, in operations per second."""
    command = processes.module("bench.limits", name, str(seconds), environment["DATABASE_URL"])
    return float(processes.output_of(command, environment, timeout=seconds + _SLACK))


def worker_memory(server: Server) -> list[dict[str, float]]:
    """Return the memory of each worker in MiB, including the process that hashes for it."""
    if not procfs.AVAILABLE:
        return []
    families = [map(procfs.memory_of, procfs.family_of(worker)) for worker in server.workers()]
    totals = [map(sum, zip(*sizes, strict=True)) for sizes in families]
    return [dict(zip(("pss", "rss"), total, strict=True)) for total in totals]
