"""What was measured, as a table in the terminal and as a page of the documentation."""

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
_NOISE: Final = 0.10  # of the machine, used by others: above it the run is called noisy
_SHORT: Final = {
    "commits": "insert commits",
    "floor": "the empty application",
    "argon2id": "argon2id hashes",
    "es256": "ES256 signatures",
}
_PAGE: Final = stage.BENCH / "page.md"


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
    rows = [_row(row, [run["rows"][row.name] for run in runs], limits) for row in measured]
    return {
        **{name: found[name] for name in ("date", "machine", "versions", "settings", "note")},
        "start": statistics.median(found["starts"]),
        "memory": {
            moment: {kind: max((worker[kind] for worker in workers), default=0.0) for kind in ("pss", "rss")}
            for moment, workers in found["memory"].items()
        },
        "limits": limits,
        "rows": rows,
        "others": statistics.median([row["others"] for row in rows if not row["errors"]] or [0.0]),
    }


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


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rate(value: float) -> str:
    return _number(value, 0 if value >= 100 else 1)  # noqa: PLR2004 - three digits say enough


def _cells(row: dict[str, Any]) -> list[str]:
    if row["errors"]:
        return [row["title"], "no result", f"{row['errors']} errors", *["-"] * 5]
    low_high = f"{_rate(row['slowest'])} to {_rate(row['fastest'])}"
    share = "-" if row["share"] is None else f"{100 * row['share']:.0f} % of {_SHORT[row['limit']]}"
    return [
        row["title"],
        _rate(row["per_second"]),
        low_high,
        _number(row["p50"], 1),
        _number(row["p99"], 1),
        _number(row["server_ms"], 2),
        _number(row["database_ms"], 2),
        share,
    ]


_HEADINGS: Final = [
    "",
    "per second",
    "runs",
    "p50 ms",
    "p99 ms",
    "CPU ms, server",
    "CPU ms, database",
    "of the limit",
]


def text(summary: dict[str, Any]) -> str:
    """Return the table for a terminal."""
    lines = [_HEADINGS, *(_cells(row) for row in summary["rows"])]
    widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
    table = ["  ".join(_padded(line, widths)).rstrip() for line in lines]
    table.insert(1, "  ".join("─" * width for width in widths))
    said = [
        f"  {row['title']}: {complaint}"
        for row in summary["rows"]
        if row["errors"]
        for complaint in row["said"]
    ]
    return "\n".join(["", *table, *said, "", *(f"{name}: {value}" for name, value in _facts(summary)), ""])


def _padded(line: list[str], widths: list[int]) -> list[str]:
    last = len(line) - 1
    return [
        cell.ljust(width) if column in {0, last} else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(line, widths, strict=True))
    ]


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    memory, versions, settings = (summary[name] for name in ("memory", "versions", "settings"))
    facts = [
        (LIMITS[name][0].upper() + LIMITS[name][1:], f"{_rate(value)} per second")
        for name, value in summary["limits"].items()
    ]
    facts.append(("Start to first answer, warm", f"{summary['start']:.2f} s"))
    if memory["idle"]["rss"]:
        facts += [
            (
                f"Memory of a worker, {moment}",
                f"{memory[key]['pss']:.0f} MiB its share (PSS), {memory[key]['rss']:.0f} MiB resident (RSS)",
            )
            for key, moment in (("idle", "idle"), ("after", "after the load"))
        ]
    facts += [
        ("Machine", _machine(summary["machine"])),
        ("Versions", ", ".join(f"{name} {value}" for name, value in versions.items())),
        ("Settings", ", ".join(f"{name} {value}" for name, value in settings.items())),
        ("Load", _load(summary)),
        ("Others", _others(summary)),
        ("Date", summary["date"]),
    ]
    return [*facts, ("Note", summary["note"])] if summary["note"] else facts


def _machine(machine: dict[str, Any]) -> str:
    return (
        f"{machine['processors']} processors ({machine['processor']}), {machine['memory_gib']} GiB, "
        f"{machine['system']}"
    )


def _load(summary: dict[str, Any]) -> str:
    costs = [
        row["generator_ms"] for row in summary["rows"] if row.get("generator_ms") and row["name"] != "login"
    ]
    cost = f", {min(costs):.2f} to {max(costs):.2f} ms of CPU a request" if costs else ""
    return (
        "one process of its own (bench/load.py), keep-alive connections that each wait for their answer: "
        f"16, for logins 8{cost}"
    )


def _others(summary: dict[str, Any]) -> str:
    said = f"{100 * summary['others']:.0f} % of the processors were busy with something else"
    return f"{said}: repeat it on a quiet machine" if summary["others"] > _NOISE else said


def page(summary: dict[str, Any]) -> str:
    """Return the page of the documentation."""
    rows = _markdown([["row", *_HEADINGS[1:]], *(_cells(row) for row in summary["rows"])])
    facts = _markdown([["", ""], *([name, value] for name, value in _facts(summary))])
    return _PAGE.read_text().replace("<!-- the rows -->", rows, 1).replace("<!-- the facts -->", facts, 1)


def _markdown(lines: list[list[str]]) -> str:
    table = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]
    table.insert(1, f"|{'---|' * len(lines[0])}")
    return "\n".join(table)
