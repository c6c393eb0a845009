"""The tables that ``make bench`` prints, and the page of the documentation."""

from typing import Any, Final

from measure import LIMITS

_NOISE: Final = 0.10  # of the machine, used by others: above it the run is called noisy
_SHORT: Final = {
    "commits": "insert commits",
    "floor": "the empty application",
    "argon2id": "argon2id hashes",
    "es256": "ES256 signatures",
}
_RATES: Final = [
    "",
    "per second",
    "runs",
    "oidc-provider, 2 processes",
    "oidc-provider, 1 process",
    "ratio",
    "goal",
    "of the limit",
]
_COSTS: Final = [
    "",
    "p50 / p99 ms",
    "CPU ms, server",
    "CPU ms, database",
    "oidc-provider: p50 / p99 ms",
    "CPU ms, server",
    "CPU ms, database",
]

Table = list[list[str]]


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rate(value: float) -> str:
    return _number(value, 0 if value >= 100 else 1)  # noqa: PLR2004 - three digits say enough


def _rates(row: dict[str, Any]) -> list[str]:
    if row["errors"]:
        return [row["title"], "no result", f"{row['errors']} errors", *["-"] * 5]
    share = "-" if row["share"] is None else f"{100 * row['share']:.0f} % of {_SHORT[row['limit']]}"
    return [
        row["title"],
        _rate(row["per_second"]),
        f"{_rate(row['slowest'])} to {_rate(row['fastest'])}",
        *(_others_rate(row["beside"].get(processes)) for processes in ("2", "1")),
        _number(row["ratio"], 2),
        _goal(row),
        share,
    ]


def _others_rate(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    return "no result" if row["errors"] else _rate(row["per_second"])


def _goal(row: dict[str, Any]) -> str:
    if row["goal"] is None:
        return "-"
    share = f", {100 * row['wanted_share']:.0f} % of the limit" if row["wanted_share"] else ""
    met = {True: ": reached", False: ": missed", None: ""}[row["reached"]]
    return f"{row['goal']:.1f}{share}{met}"


def _costs(row: dict[str, Any]) -> list[str]:
    return [row["title"], *_cost(row), *_cost(row["beside"].get("2"))]


def _cost(row: dict[str, Any] | None) -> list[str]:
    if row is None or row["errors"]:
        return ["-"] * 3
    latency = f"{_number(row['p50'], 1)} / {_number(row['p99'], 1)}"
    return [latency, _number(row["server_ms"], 2), _number(row["database_ms"], 2)]


def rates(summary: dict[str, Any]) -> Table:
    """Return how many a second there were, and of what."""
    return [_RATES, *(_rates(row) for row in summary["rows"])]


def costs(summary: dict[str, Any]) -> Table:
    """Return how long one took, and what it cost."""
    return [_COSTS, *(_costs(row) for row in summary["rows"])]


def text(summary: dict[str, Any]) -> str:
    """Return the tables for a terminal."""
    said = [
        f"  {row['title']}: {complaint}"
        for ours in summary["rows"]
        for row in (ours, *ours["beside"].values())
        if row["errors"]
        for complaint in row["said"]
    ]
    facts = [f"{name}: {value}" for name, value in _facts(summary)]
    return "\n".join(["", aligned(rates(summary)), "", aligned(costs(summary)), *said, "", *facts, ""])


def aligned(lines: Table) -> str:
    """Return a table for a terminal."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    table = ["  ".join(_padded(line, widths)).rstrip() for line in lines]
    table.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(table)


def _padded(line: list[str], widths: list[int]) -> list[str]:
    first, *rest = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]


def _facts(summary: dict[str, Any]) -> list[tuple[str, str]]:
    versions, settings = summary["versions"], summary["settings"]
    facts = [
        (LIMITS[name][0].upper() + LIMITS[name][1:], f"{_rate(value)} per second")
        for name, value in summary["limits"].items()
    ]
    facts += [
        ("Start to first answer, warm", f"{summary['start']:.2f} s"),
        *_memory(summary["memory"]),
        *_other(summary["beside"]),
        ("Machine", _machine(summary["machine"])),
        ("Versions", ", ".join(f"{name} {value}" for name, value in versions.items())),
        ("Settings", ", ".join(f"{name} {value}" for name, value in settings.items())),
        ("Load", _load(summary)),
        ("Others", _others(summary)),
        ("Date", summary["date"]),
    ]
    return [*facts, ("Note", summary["note"])] if summary["note"] else facts


def _memory(memory: dict[str, Any]) -> list[tuple[str, str]]:
    if not memory["idle"]["rss"]:
        return []
    return [
        (f"Memory of a worker, {moment}", _sizes(memory[key]))
        for key, moment in (("idle", "idle"), ("after", "after the load"))
    ]


def _sizes(memory: dict[str, float]) -> str:
    return f"{memory['pss']:.0f} MiB its share (PSS), {memory['rss']:.0f} MiB resident (RSS)"


def _other(beside: dict[str, Any] | None) -> list[tuple[str, str]]:
    if beside is None:
        return []
    return [
        ("The other provider", beside["version"]),
        ("Its start to first answer, 2 processes", f"{beside['start']:.2f} s"),
        ("Its memory of a worker, after the load", _sizes(beside["memory"])),
    ]


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


def page(summary: dict[str, Any]) -> dict[str, str]:
    """Return the sections of the documentation's page."""
    return {
        "rates": markdown([["row", *_RATES[1:]], *rates(summary)[1:]]),
        "costs": markdown([["row", *_COSTS[1:]], *costs(summary)[1:]]),
        "facts": markdown([["", ""], *(list(fact) for fact in _facts(summary))]),
    }


def markdown(lines: Table) -> str:
    """Return a table of a page."""
    table = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines]
    table.insert(1, f"|{'---|' * len(lines[0])}")
    return "\n".join(table)
