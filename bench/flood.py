"""Measure token requests during ten times as many sign-ins as the server can hash.

Sign-ins start at fixed times, whether or not earlier ones are answered. The command fails if a
sign-in got no answer, or if the p99 of the token requests more than doubled.
"""

import argparse
import json
from typing import Any, Final

from bench import processes, sections, servers, tables
from bench.measure import Row, Times, require_row
from bench.servers import Target

_SIGN_INS: Final = Row("sign-in", "sign-ins", 8, "argon2id")
_MOST_PENDING: Final = 2000  # sign-ins; further ones start late
_SLACK: Final = 60  # seconds
_MOST_SLOWDOWN: Final = 2.0  # of the p99
_HEADINGS: Final = [
    "flood",
    "tokens a second",
    "p50 / p99 ms",
    "failed",
    "sign-ins a second",
    "200",
    "503, Retry-After",
    "failed or no answer",
    "p50 / p99 ms",
]

Results = dict[str, dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seconds", type=float, default=20, help="of a phase (default: %(default)s)")
    parser.add_argument(
        "--times", type=float, default=10, help="sign-ins, as a multiple of capacity (default: %(default)s)"
    )
    parser.add_argument("--tokens", type=float, default=100, help="a second (default: %(default)s)")
    parser.add_argument("--sqlite", action="store_true", help="use SQLite")
    parser.add_argument("--write", action="store_true", help="also update docs/performance.md")


def _measure_phase(target: Target, arguments: argparse.Namespace, sign_ins: float) -> Results:
    """Send token requests and, from another process, this many sign-ins a second."""
    loads = [_start_load(target, arguments, "client-credentials", arguments.tokens, 16)]
    if sign_ins:
        loads.append(_start_load(target, arguments, "sign-in", sign_ins, _MOST_PENDING))
    results: Results = {}
    try:
        for load in loads:
            output, _ = load.communicate(timeout=arguments.seconds + _SLACK)
            results |= json.loads(output)
    finally:
        for load in loads:
            processes.stop(load)
    return results


def _start_load(target: Target, arguments: argparse.Namespace, row: str, rate: float, clients: int) -> Any:
    stream = {"row": row, "rate": rate, "clients": clients, "data": target.data}
    job = {"port": target.server.port, "seconds": arguments.seconds, "windows": 1, "streams": [stream]}
    return processes.start_load("bench.open_loop", job)


def _cells(title: str, results: Results, seconds: float) -> list[str]:
    tokens, sign_ins = results["client-credentials"], results.get("sign-in")
    rate = sum(tokens["outcomes"].values()) / seconds
    cells = [title, f"{rate:,.0f}", _latency(tokens), str(tokens["errors"])]
    if sign_ins is None:
        return [*cells, *["-"] * 5]
    outcomes = sign_ins["outcomes"]
    return [
        *cells,
        f"{sum(outcomes.values()) / seconds:,.0f}",
        f"{outcomes.get('200', 0):,}",
        f"{outcomes.get('503 with Retry-After', 0):,}",
        str(sign_ins["errors"]),
        _latency(sign_ins),
    ]


def _latency(stream: dict[str, Any]) -> str:
    return f"{stream['p50']:.1f} / {stream['p99']:.1f}"


def main(arguments: argparse.Namespace) -> int:
    """Measure before, during and after the flood; return 1 if it failed."""
    with servers.new_target(sqlite=arguments.sqlite) as (target, _):
        _measure_phase(target, arguments, 0)  # warm-up
        times = Times(warm_up=1, seconds=min(5, arguments.seconds))
        capacity = require_row(_SIGN_INS, target, times)["per_second"]
        rates = {"before": 0.0, "during": capacity * arguments.times, "after": 0.0}
        phases = {title: _measure_phase(target, arguments, rate) for title, rate in rates.items()}
    streams = [(title, *stream) for title, results in phases.items() for stream in results.items()]
    for title, name, stream in streams:
        for message in stream["messages"]:
            print(f"{title}: {name}: {message}")
    table = [_HEADINGS, *(_cells(title, phase, arguments.seconds) for title, phase in phases.items())]
    before, during = (phases[title]["client-credentials"]["p99"] for title in ("before", "during"))
    summary = (
        f"Sign-ins that can be hashed: {capacity:,.1f} a second. Offered: {arguments.times:g} times as many. "
        f"The p99 of token requests during the flood was {during / before:.1f} times the p99 before it."
    )
    print("", tables.aligned(table), "", summary, sep="\n")
    if arguments.write:
        sections.update_page(flood=f"{tables.markdown(table)}\n\n{summary}")
    has_errors = any(stream["errors"] for _, _, stream in streams)
    return 1 if has_errors or during > before * _MOST_SLOWDOWN else 0
