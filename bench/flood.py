"""A flood of sign-ins, ten times what the machine can hash, while an application asks for tokens.

    python bench/flood.py [--write]

Sign-ins come at their moments and wait for nobody. Everything is made for the measurement and thrown
away, as by ``run.py``. Fails if a sign-in got no answer, or if the tokens' p99 more than doubled.
"""

import argparse
import json
import subprocess
import sys
from contextlib import ExitStack
from typing import Any, Final

import measure
import sections
import stage
import tables
from measure import Row, Times

_SIGN_INS: Final = Row("sign-in", "sign-ins", 8, "argon2id")
_WAITING: Final = 2000  # at most, before a sign-in counts as begun too late
_SLACK: Final = 60
_DOUBLE: Final = 2.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Measure tokens while sign-ins flood in.")
    parser.add_argument("--seconds", type=float, default=20, help="a phase (default: %(default)s)")
    parser.add_argument("--times", type=float, default=10, help="what can be hashed (default: %(default)s)")
    parser.add_argument("--tokens", type=float, default=100, help="a second (default: %(default)s)")
    parser.add_argument("--sqlite", action="store_true", help="measure on SQLite")
    parser.add_argument("--write", action="store_true", help="also write it into docs/performance.md")
    return parser.parse_args()


class Flood:
    """One server, and what is sent to it."""

    def __init__(self, arguments: argparse.Namespace, server: stage.Server, world: dict[str, Any]) -> None:
        self.arguments = arguments
        self.server = server
        self.world = world

    def capacity(self) -> float:
        """Return how many sign-ins a second there are when each waits for its answer."""
        times = Times(warm_up=1, seconds=min(5, self.arguments.seconds), limit=0)
        result = measure.row(_SIGN_INS, self.server, None, self.world, times)
        if result["errors"]:
            raise stage.Failed(f"sign-ins alone: {result['said'][0]}")
        return float(result["per_second"])

    def phase(self, sign_ins: float) -> dict[str, dict[str, Any]]:
        """Send tokens' requests and, from another process, so many sign-ins a second."""
        running = [self._load("client-credentials", self.arguments.tokens, 16)]
        if sign_ins:
            running.append(self._load("sign-in", sign_ins, _WAITING))
        found: dict[str, dict[str, Any]] = {}
        try:
            for process in running:
                said, _ = process.communicate(timeout=self.arguments.seconds + _SLACK)
                found |= json.loads(said)
        finally:
            for process in running:
                stage.stop(process)
        return found

    def _load(self, row: str, rate: float, clients: int) -> subprocess.Popen[str]:
        stream = {"row": row, "rate": rate, "clients": clients, "world": self.world}
        job = {
            "port": self.server.port,
            "seconds": self.arguments.seconds,
            "windows": 1,
            "streams": [stream],
        }
        command = [sys.executable, str(stage.BENCH / "paced.py")]
        process = stage.start(command, {}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert process.stdin is not None
        with process.stdin:
            json.dump(job, process.stdin)
        process.stdin = None
        return process


def _cells(title: str, found: dict[str, dict[str, Any]], seconds: float) -> list[str]:
    tokens, sign_ins = found["client-credentials"], found.get("sign-in")
    latency = f"{tokens['p50']:.1f} / {tokens['p99']:.1f}"
    cells = [title, f"{sum(tokens['came_to'].values()) / seconds:,.0f}", latency, str(tokens["errors"])]
    if sign_ins is None:
        return [*cells, *["-"] * 5]
    came_to = sign_ins["came_to"]
    good, busy = came_to.pop("200", 0), came_to.pop("503 with Retry-After", 0)
    offered = f"{(good + busy + sum(came_to.values())) / seconds:,.0f}"
    latency = f"{sign_ins['p50']:.1f} / {sign_ins['p99']:.1f}"
    return [*cells, offered, f"{good:,}", f"{busy:,}", str(sign_ins["errors"]), latency]


_HEADINGS: Final = [
    "",
    "tokens a second",
    "p50 / p99 ms",
    "failed",
    "sign-ins a second",
    "200",
    "503, Retry-After",
    "failed or no answer",
    "p50 / p99 ms",
]


def main() -> int:
    """Measure before, during and after the flood."""
    arguments = _arguments()
    with ExitStack() as stack:
        place = stack.enter_context(stage.place())
        database = stack.enter_context(stage.database(place, sqlite=arguments.sqlite))
        environment = stage.environment(place, database.url)
        world = stage.seed(environment)
        flood = Flood(arguments, stack.enter_context(stage.server(environment)), world)
        flood.phase(0)  # warm
        capacity = flood.capacity()
        rates = {"before": 0.0, "during": capacity * arguments.times, "after": 0.0}
        found = {title: flood.phase(rate) for title, rate in rates.items()}
    for title, streams in found.items():
        for name, stream in streams.items():
            for said in stream["said"]:
                print(f"{title}: {name}: {said}")
    table = [_HEADINGS, *(_cells(title, phase, arguments.seconds) for title, phase in found.items())]
    before, during = (found[title]["client-credentials"]["p99"] for title in ("before", "during"))
    said = (
        f"Sign-ins that can be hashed: {capacity:,.1f} a second. Offered: {arguments.times:g} times as many. "
        f"The tokens' p99 was {during / before:.1f} times what it was before."
    )
    print("", tables.aligned(table), "", said, sep="\n")
    if arguments.write:
        table[0][0] = "flood"
        sections.write(flood=f"{tables.markdown(table)}\n\n{said}")
    failed = any(stream["errors"] for streams in found.values() for stream in streams.values())
    return 1 if failed or during > before * _DOUBLE else 0


if __name__ == "__main__":
    sys.exit(stage.outcome(main))
