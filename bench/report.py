"""What was measured, reduced to medians, and where it was measured."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import statistics
import subprocess
from pathlib import Path
from typing import Any, Final

import limits
import stage
from measure import FLOOR, LIMITS, ROWS, Row

_PACKAGES: Final = (
    *("django", "django-oauth-toolkit", "oauthlib", "gunicorn", "psycopg", "cryptography"),
    *("argon2-cffi", "orjson"),
)


def machine() -> dict[str, Any]:
    """Describe the machine."""
    return {
        "processor": _first(Path("/proc/cpuinfo"), r"model name\s*: (.+)") or platform.processor(),
        "processors": limits.processors(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.release()}",
    }


def _first(path: Path, pattern: str) -> str:
    try:
        match = re.search(pattern, path.read_text())
    except OSError:
        return ""
    return match[1] if match else ""


def versions() -> dict[str, str]:
    """Name what took part."""
    parser = "C" if importlib.util.find_spec("gunicorn_h1c") else "Python"
    return {
        "gatehouse": _revision(),
        "python": platform.python_version(),
        **{name: importlib.metadata.version(name) for name in _PACKAGES},
        "HTTP parser": parser,
    }


def _revision() -> str:
    git = shutil.which("git")
    if git is None:
        return "unknown"
    said = subprocess.run(  # noqa: S603 - fixed arguments
        [git, "describe", "--always", "--dirty=, changed"],
        cwd=stage.ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return said.stdout.strip() or "unknown"


def summary(found: dict[str, Any]) -> dict[str, Any]:
    """Reduce all runs to medians."""
    runs = found["runs"]
    limits = {name: statistics.median(run["limits"][name] for run in runs) for name in LIMITS}
    measured = [row for row in (*ROWS, FLOOR) if row.name in runs[0]["rows"]]
    rows = [_compared(row, runs, limits) for row in measured]
    return {
        **{name: found[name] for name in ("date", "machine", "versions", "settings", "note")},
        "start": statistics.median(found["starts"]),
        "memory": {moment: _largest(workers) for moment, workers in found["memory"].items()},
        "beside": _beside(found["beside"]),
        "limits": limits,
        "rows": rows,
        "others": statistics.median([row["others"] for row in rows if not row["errors"]] or [0.0]),
    }


def _largest(workers: list[dict[str, float]]) -> dict[str, float]:
    return {kind: max((worker[kind] for worker in workers), default=0.0) for kind in ("pss", "rss")}


def _beside(described: dict[str, Any] | None) -> dict[str, Any] | None:
    if described is None:
        return None
    return {
        "version": described["version"],
        "start": statistics.median(described["starts"]),
        "memory": _largest(described["memory"]),
    }


def _compared(row: Row, runs: list[dict[str, Any]], limits: dict[str, float]) -> dict[str, Any]:
    """Return our row, the same rows of the other provider, and how they stand to each other."""
    results = [run["rows"][row.name] for run in runs]
    reduced = _row(row, results, limits)
    reduced["beside"] = {
        processes: _row(row, [run["beside"][processes][row.name] for run in runs], limits)
        for processes in (runs[0]["beside"] if row is not FLOOR else ())
    }
    reduced |= {"goal": row.goal, "wanted_share": row.share, "ratio": None}
    other = reduced["beside"].get("2")
    if other and not other["errors"] and not reduced["errors"]:
        theirs = [run["beside"]["2"][row.name] for run in runs]
        pairs = zip(results, theirs, strict=True)  # of the same minute
        reduced["ratio"] = statistics.median(a["per_second"] / b["per_second"] for a, b in pairs)
    reduced["reached"] = _reached(reduced)
    return reduced


def _reached(row: dict[str, Any]) -> bool | None:
    """Tell whether a row is what we want it to be; nothing if that is not known."""
    if row["goal"] is None or row["ratio"] is None:
        return None
    enough: bool = row["wanted_share"] is None or row["share"] >= row["wanted_share"]
    return bool(row["ratio"] >= row["goal"]) and enough


def _row(row: Row, results: list[dict[str, Any]], limits: dict[str, float]) -> dict[str, Any]:
    errors = sum(result["errors"] for result in results)
    reduced: dict[str, Any] = {"name": row.name, "title": row.title, "errors": errors, "others": 0.0}
    if errors:
        return reduced | {"said": [said for result in results for said in result["said"]][:3]}
    for name in ("per_second", "p50", "p99", "server_ms", "database_ms", "generator_ms", "others"):
        values = [result[name] for result in results if result.get(name) is not None]
        reduced[name] = statistics.median(values) if values else None
    rates = [result["per_second"] for result in results]
    reduced |= {"slowest": min(rates), "fastest": max(rates), "limit": row.limit}
    reduced["share"] = reduced["per_second"] / limits[row.limit] if limits.get(row.limit) else None
    return reduced
