"""The medians of a measurement, and the machine it was made on."""

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench import limits
from bench.measure import BASELINE, LIMITS, ROWS, Row
from bench.processes import ROOT

_PACKAGES: Final = (
    *("django", "django-oauth-toolkit", "oauthlib", "gunicorn", "psycopg", "cryptography"),
    *("argon2-cffi", "orjson", "uvloop"),
)


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {
        "processor": _first_match(Path("/proc/cpuinfo"), r"model name\s*: (.+)") or platform.processor(),
        "processors": limits.processors(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
    }


def _first_match(path: Path, pattern: str) -> str:
    try:
        match = re.search(pattern, path.read_text())
    except OSError:
        return ""
    return match[1] if match else ""


def versions() -> dict[str, str]:
    """Return the versions of Gatehouse, Python and the packages that matter."""
    from identity.users import argon2_builds  # noqa: PLC0415 - bench also fills 0.6.0, which lacks it

    builds = argon2_builds.find_present()
    return {
        "gatehouse": _revision(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "Argon2id": f"built for {builds[0].name}" if builds else "libsodium",
    }


def _revision() -> str:
    git = shutil.which("git")
    if git is None:
        return "unknown"
    described = subprocess.run(  # noqa: S603 - fixed arguments
        [git, "describe", "--always", "--dirty=, changed"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or "unknown"


def summarize(measurements: dict[str, Any]) -> dict[str, Any]:
    """Reduce all runs to medians."""
    runs = measurements["runs"]
    limits = {name: median(run["limits"][name] for run in runs) for name in LIMITS}
    measured = [row for row in (*ROWS, BASELINE) if row.name in runs[0]["rows"]]
    rows = [_compare(row, runs, limits) for row in measured]
    peer = measurements["peer"]
    return {
        **{name: measurements[name] for name in ("date", "machine", "versions", "settings", "note")},
        "start": median(measurements["starts"]),
        "memory": {moment: _largest(workers) for moment, workers in measurements["memory"].items()},
        "peer": peer
        and {
            "version": peer["version"],
            "start": median(peer["starts"]),
            "memory": _largest(peer["memory"]),
        },
        "limits": limits,
        "rows": rows,
        "other_load": median([row["other_load"] for row in rows if not row["errors"]] or [0.0]),
    }


def _largest(workers: list[dict[str, float]]) -> dict[str, float]:
    return {kind: max((worker[kind] for worker in workers), default=0.0) for kind in ("pss", "rss")}


def _compare(row: Row, runs: list[dict[str, Any]], limits: dict[str, float]) -> dict[str, Any]:
    """Return the medians of a row, those of the peer, and their ratio."""
    results = [run["rows"][row.name] for run in runs]
    summary = _medians(row, results, limits)
    summary["peer"] = {
        count: _medians(row, [run["peer"][count][row.name] for run in runs], limits)
        for count in (runs[0]["peer"] if row is not BASELINE and not row.compared_with else ())
    }
    summary |= {"goal": row.goal, "wanted_share": row.share, "ratio": None}
    others = [
        run["rows"].get(row.compared_with) if row.compared_with else run["peer"].get("2", {}).get(row.name)
        for run in runs
    ]
    if all(result and not result["errors"] for result in (*results, *others)):
        pairs = zip(results, others, strict=True)  # measured in the same minute
        summary["ratio"] = median(ours["per_second"] / theirs["per_second"] for ours, theirs in pairs)
    summary["reached"] = _is_reached(summary)
    return summary


def _is_reached(row: dict[str, Any]) -> bool | None:
    """Return whether a row reaches its goal; None if the row has no goal or the ratio is unknown."""
    if row["goal"] is None or row["ratio"] is None:
        return None
    has_share: bool = row["wanted_share"] is None or row["share"] >= row["wanted_share"]
    return bool(row["ratio"] >= row["goal"]) and has_share


def _medians(row: Row, results: list[dict[str, Any]], limits: dict[str, float]) -> dict[str, Any]:
    errors = sum(result["errors"] for result in results)
    medians: dict[str, Any] = {"name": row.name, "title": row.title, "errors": errors, "other_load": 0.0}
    if errors:
        return medians | {"messages": [text for result in results for text in result["messages"]][:3]}
    for name in ("per_second", "p50", "p99", "server_ms", "database_ms", "generator_ms", "other_load"):
        values = [result[name] for result in results if result.get(name) is not None]
        medians[name] = median(values) if values else None
    rates = [result["per_second"] for result in results]
    medians |= {"slowest": min(rates), "fastest": max(rates), "limit": row.limit}
    medians["share"] = medians["per_second"] / limits[row.limit] if limits.get(row.limit) else None
    return medians
