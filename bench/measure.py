"""Measuring one row: the load in its process, the clocks of everybody else around it."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import limits
import procfs
import stage

_SLACK: Final = 60  # seconds that preparing and ending may take


@dataclass(frozen=True, slots=True)
class Row:
    """What is measured, with how many connections, and what it is held against.

    ``limit`` is one of the machine, and ``share`` how much of it we want; ``goal`` is how many times as
    many a second we want as the provider beside us has.
    """

    name: str
    title: str
    connections: int
    limit: str
    goal: float | None = None
    share: float | None = None


ROWS: Final = (
    Row("client-credentials", "client credentials", 16, "commits", goal=1.0),
    Row("refresh", "refresh with rotation", 16, "commits", goal=1.5),
    Row("userinfo", "userinfo", 16, "floor", goal=1.0),
    Row("jwks", "JWKS", 16, "floor"),
    Row("discovery", "discovery", 16, "floor"),
    Row("login", "full login", 8, "argon2id", goal=1.0, share=0.75),
)
FLOOR: Final = Row("floor", "empty application", 16, "")
LIMITS: Final = {
    "es256": "ES256 signatures, one processor",
    "argon2id": "argon2id hashes (19 MiB, t=2, p=1), all processors",
    "commits": "single-row insert commits",
    "floor": "requests to an empty application in the same gunicorn",
}


@dataclass(frozen=True, slots=True)
class Clocks:
    """CPU seconds so far."""

    server: dict[int, float]
    database: dict[int, float]
    machine: float

    @classmethod
    def read(cls, server: stage.Server, database: stage.Database | None) -> "Clocks":
        """Read all clocks now."""
        if not procfs.AVAILABLE:
            return cls({}, {}, 0.0)
        return cls(
            procfs.cpu_of(server.processes()),
            procfs.cpu_of(database.processes()) if database else {},
            procfs.machine_busy(),
        )


@dataclass(frozen=True, slots=True)
class Times:
    """How long a row warms up and is measured, in seconds."""

    warm_up: float
    seconds: float
    limit: float


def row(  # noqa: PLR0913, PLR0917 - what is measured, where, and for how long
    row: Row,
    server: stage.Server,
    database: stage.Database | None,
    world: dict[str, Any],
    times: Times,
    begun: Callable[[], None] = lambda: None,
) -> dict[str, Any]:
    """Measure one row once: what the load found, and CPU milliseconds per step.

    ``begun`` is called when clients are prepared and warm.
    """
    job = {
        "row": row.name,
        "port": server.port,
        "connections": row.connections,
        "world": world,
        "warm_up": times.warm_up,
        "seconds": times.seconds,
    }
    load = stage.start(
        [sys.executable, str(stage.BENCH / "load.py")],
        {},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert load.stdin is not None
    assert load.stdout is not None
    guard = threading.Timer(times.warm_up + times.seconds + _SLACK, load.kill)
    guard.start()
    try:
        with load.stdin:
            json.dump(job, load.stdin)
        marks: list[tuple[float, Clocks]] = []
        for line in load.stdout:
            if line.startswith("{"):
                return _combined(json.loads(line), marks)
            marks.append((time.perf_counter(), Clocks.read(server, database)))
            if len(marks) == 1:
                begun()
        raise stage.Failed(f"the load of {row.title} ended without a result")
    finally:
        guard.cancel()
        stage.stop(load)


def _combined(result: dict[str, Any], marks: list[tuple[float, Clocks]]) -> dict[str, Any]:
    steps = result.get("steps", 0)
    if not steps and not result["errors"]:
        result |= {"errors": 1, "said": ["nothing was answered while it was measured"]}
    if result["errors"] or not procfs.AVAILABLE:
        return result
    (began, before), (ended, after) = marks
    server = procfs.spent(before.server, after.server)
    database = procfs.spent(before.database, after.database)
    capacity = (ended - began) * limits.processors()
    others = after.machine - before.machine - server - database - result["generator_cpu"]
    return result | {
        "server_ms": 1000 * server / steps,
        "database_ms": 1000 * database / steps if after.database else None,
        "generator_ms": 1000 * result["generator_cpu"] / steps,
        "others": max(0.0, others / capacity),
    }


def limit(name: str, environment: dict[str, str], seconds: float) -> float:
    """Measure one limit of the machine, in operations per second."""
    command = [
        sys.executable,
        str(stage.BENCH / "limits.py"),
        name,
        str(seconds),
        environment["DATABASE_URL"],
    ]
    return float(stage.output_of(command, environment, within=seconds + _SLACK))


def memory(server: stage.Server) -> list[dict[str, float]]:
    """Return the MiB of each worker, with what hashes for it."""
    if not procfs.AVAILABLE:
        return []
    families = [map(procfs.memory_of, procfs.family_of(worker)) for worker in server.workers()]
    return [dict(zip(("pss", "rss"), map(sum, zip(*sizes, strict=True)), strict=True)) for sizes in families]
