"""The tables of ``bench run``, and tables for the terminal and for pages."""

from typing import Any, Final

from bench.measure import LIMITS

NOISE: Final = 0.10  # above this share of the processors, other programs make the run noisy
_LIMIT_NAMES: Final = {
    "commits": "insert commits",
    "baseline": "the empty application",
    "argon2id": "argon2id hashes",
    "es256": "ES256 signatures",
}
_RATES: Final = [
    "row",
    "per second",
    "runs",
    "oidc-provider, 2 processes",
    "oidc-provider, 1 process",
    "ratio",
    "goal",
    "of the limit",
]
_COSTS: Final = [
    "row",
    "p50 / p99 ms",
    "CPU ms, server",
    "CPU ms, database",
    "oidc-provider: p50 / p99 ms",
    "CPU ms, server",
    "CPU ms, database",
]
_ONLY_IN_RESULTS: Final = ("Settings", "Load", "Other programs", *LIMITS.values())

Table = list[list[str]]


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"


def _rate(value: float) -> str:
    return _number(value, 0 if value >= 100 else 1)  # noqa: PLR2004 - three digits are enough


def _rates(row: dict[str, Any]) -> list[str]:
    if row["errors"]:
        return [row["title"], "no result", f"{row['errors']} errors", *["-"] * 5]
    share = "-" if row["share"] is None else f"{100 * row['share']:.0f} % of {_LIMIT_NAMES[row['limit']]}"
    return [
        row["title"],
        _rate(row["per_second"]),
        f"{_rate(row['slowest'])} to {_rate(row['fastest'])}",
        *(_peer_rate(row["peer"].get(count)) for count in ("2", "1")),
        _number(row["ratio"], 2),
        _goal(row),
        share,
    ]


def _peer_rate(row: dict[str, Any] | None) -> str:
    if row is None:
        return "-"
    return "no result" if row["errors"] else _rate(row["per_second"])


def _goal(row: dict[str, Any]) -> str:
    if row["goal"] is None:
        return "-"
    share = f", {100 * row['wanted_share']:.0f} % of the limit" if row["wanted_share"] else ""
    verdict = {True: ": reached", False: ": missed", None: ""}[row["reached"]]
    return f"{row['goal']:.1f}{share}{verdict}"


def _costs(row: dict[str, Any] | None) -> list[str]:
    if row is None or row["errors"]:
        return ["-"] * 3
    latency = f"{_number(row['p50'], 1)} / {_number(row['p99'], 1)}"
    return [latency, _number(row["server_ms"], 2), _number(row["database_ms"], 2)]


def rates(summary: dict[str, Any]) -> Table:
    """Return the rates of Gatehouse and of the peer."""
    return [_RATES, *(_rates(row) for row in summary["rows"])]


def costs(summary: dict[str, Any]) -> Table:
    """Return latency and CPU time of Gatehouse and of the peer."""
    return [_COSTS, *([row["title"], *_costs(row), *_costs(row["peer"].get("2"))] for row in summary["rows"])]


def facts(summary: dict[str, Any]) -> Table:
    """Return the limits and the state of the machine, each with its name."""
    settings = ", ".join(f"{name} {value}" for name, value in summary["settings"].items())
    versions = ", ".join(f"{name} {value}" for name, value in summary["versions"].items())
    machine = "{processors} processors ({processor}), {memory_gib} GiB, {system}".format(**summary["machine"])
    table = [
        *([LIMITS[name], f"{_rate(value)} per second"] for name, value in summary["limits"].items()),
        ["Start to first answer, warm", f"{summary['start']:.2f} s"],
    ]
    if summary["memory"]["idle"]["rss"]:
        table += [
            ["Memory of a worker, idle", _sizes(summary["memory"]["idle"])],
            ["Memory of a worker, after the load", _sizes(summary["memory"]["after"])],
        ]
    if peer := summary["peer"]:
        table += [
            ["The other provider", peer["version"]],
            ["Its start to first answer, 2 processes", f"{peer['start']:.2f} s"],
            ["Its memory of a worker, after the load", _sizes(peer["memory"])],
        ]
    table += [
        ["Machine", machine],
        ["Versions", versions],
        ["Settings", settings],
        ["Load", _load(summary)],
        ["Other programs", _other_load(summary)],
        ["Date", summary["date"]],
    ]
    return [*table, ["Note", summary["note"]]] if summary["note"] else table


def _sizes(memory: dict[str, float]) -> str:
    return f"{memory['pss']:.0f} MiB its share (PSS), {memory['rss']:.0f} MiB resident (RSS)"


def _load(summary: dict[str, Any]) -> str:
    costs = [
        row["generator_ms"]
        for row in summary["rows"]
        if row.get("generator_ms") and row["name"] not in {"login", "passkey-sign-in"}
    ]
    cost = f", {min(costs):.2f} to {max(costs):.2f} ms of CPU a request" if costs else ""
    return f"closed loop in a process of its own, 16 keep-alive connections, 8 for logins{cost}"


def _other_load(summary: dict[str, Any]) -> str:
    text = f"used {100 * summary['other_load']:.0f} % of the processors"
    return f"{text}: repeat the run on a quiet machine" if summary["other_load"] > NOISE else text


def text(summary: dict[str, Any]) -> str:
    """Return all tables for a terminal."""
    messages = [
        f"  {row['title']}: {message}"
        for ours in summary["rows"]
        for row in (ours, *ours["peer"].values())
        if row["errors"]
        for message in row["messages"]
    ]
    lines = [f"{name}: {value}" for name, value in facts(summary)]
    return "\n".join(["", aligned(rates(summary)), "", aligned(costs(summary)), *messages, "", *lines, ""])


def page(summary: dict[str, Any]) -> dict[str, str]:
    """Return the sections of docs/performance.md."""
    rows = [fact for fact in facts(summary) if fact[0] not in _ONLY_IN_RESULTS]
    return {
        "rates": markdown(rates(summary)),
        "costs": markdown(costs(summary)),
        "facts": markdown([["", ""], *rows]),
    }


def result(summary: dict[str, Any]) -> str:
    """Return all tables for the file of the run."""
    parts = (rates(summary), costs(summary), [["", ""], *facts(summary)])
    return "\n\n".join(markdown(table) for table in parts)


def aligned(table: Table) -> str:
    """Return a table for a terminal."""
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    lines = ["  ".join(_pad(line, widths)).rstrip() for line in table]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines)


def _pad(line: list[str], widths: list[int]) -> list[str]:
    first, *rest = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in rest)]


def markdown(table: Table) -> str:
    """Return a table for a page."""
    lines = [f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in table]
    lines.insert(1, f"|{'---|' * len(table[0])}")
    return "\n".join(lines)
