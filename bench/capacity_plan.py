"""The calculation of docs/scale.md: from the costs of a request and of a row to an installation."""

import math
from dataclasses import dataclass
from typing import Final

from bench.tables import Table

_ACCOUNTS: Final = 100_000_000
_ACTIVE: Final = 40_000_000  # accounts, in a month
_MONTH: Final = 30 * 24 * 3600  # seconds
_KEPT_DAYS: Final = 14  # of sessions and families
_UTILIZATION: Final = 0.6  # of the cores of a node, at peak
_NODE_CORES: Final = 8
_CONNECTIONS: Final = 20  # of a worker to the database: THREADS + 4
_ZONES: Final = 3  # one of them may fail
_RANDOM_ORDER_FACTOR: Final = 4 / 3  # the size of rows inserted in random order, divided by that in order
_CONSENT_BYTES: Final = 357  # measured with 0.1.0
_GB: Final = 1e9


@dataclass(frozen=True, slots=True)
class Use:
    """How often an active account does something."""

    title: str
    row: str
    a_month: int
    peak: int  # the rate of the busiest second divided by the average


USES: Final = (
    Use("sign-ins", "login", 4, 10),
    Use("refreshes", "refresh", 60, 4),
    Use("userinfo", "userinfo", 20, 4),
)


@dataclass(frozen=True, slots=True)
class Cost:
    """What one step costs: CPU milliseconds, commits that write, bytes of WAL, audit entries.

    ``other_load`` is the share of the processors that other programs used meanwhile.
    """

    server_ms: float
    database_ms: float
    commits: float
    wal: float
    entries: float
    other_load: float = 0.0


@dataclass(frozen=True, slots=True)
class Size:
    """The bytes of a row, without and with its indexes, and from how many rows they were measured."""

    row: float
    with_indexes: float
    rows: int


Costs = dict[str, Cost]
Sizes = dict[str, Size]


def loads(costs: Costs) -> Table:
    """Return the rates of each use, and the cores that are busy with it at peak."""
    table = [["", "a month", "average", "peak", "server cores at peak", "database cores at peak"]]
    for use in USES:
        cost, peak = costs[use.row], _peak(use)
        table.append(
            [
                use.title,
                f"{use.a_month * _ACTIVE / 1e6:,.0f} million",
                f"{peak / use.peak:,.0f}/s",
                f"{peak:,.0f}/s",
                f"{peak * cost.server_ms / 1000:.1f}",
                f"{peak * cost.database_ms / 1000:.1f}",
            ]
        )
    server, database = _busy(costs)
    return [*table, ["together", "", "", "", f"**{server:.1f}**", f"**{database:.1f}**"]]


def parts(costs: Costs, sizes: Sizes) -> Table:
    """Return the size of each part of the installation, and how it follows from the costs."""
    server, database = _busy(costs)
    nodes = math.ceil(server / _UTILIZATION / _NODE_CORES)
    with_reserve = nodes + math.ceil(nodes / _ZONES)
    commits = sum(_peak(use) * costs[use.row].commits for use in USES)
    wal = sum(_peak(use) * costs[use.row].wal for use in USES) / 1e6
    kept = _ACTIVE * USES[0].a_month * _KEPT_DAYS / 30
    users = _ACCOUNTS * sizes["users_user"].with_indexes * _RANDOM_ORDER_FACTOR / _GB
    sessions = kept * sizes["identity_sessions_session"].with_indexes / _GB
    families = kept * sizes["grants_refreshfamily"].with_indexes / _GB
    consents = _ACCOUNTS * _CONSENT_BYTES / _GB
    entries = sum(use.a_month * _ACTIVE * costs[use.row].entries for use in USES) / 30
    log = entries * sizes["audit_entry"].with_indexes / _GB
    hot = _ACTIVE * (users / _ACCOUNTS + families / kept)
    return [
        ["Part", "Size", "How it follows"],
        [
            "Server cores",
            f"{server / _UTILIZATION:.0f}",
            f"{server:.1f} busy at peak, at {100 * _UTILIZATION:.0f} % use",
        ],
        [
            "Nodes of 8 cores",
            f"{nodes}, {with_reserve} with a reserve",
            "the reserve is a third, so two of three zones carry the peak",
        ],
        [
            "Cores of the primary",
            f"{_round_up(3 * database)} to {_round_up(4 * database)}",
            f"{database:.1f} busy at peak; the rest is for vacuum, checkpoints, replication and a reserve",
        ],
        ["Commits that write, at peak", f"{commits:,.0f}/s", "PostgreSQL flushes them in groups"],
        ["WAL, at peak", f"{wal:.1f} MB/s", "without full-page images; two to three times that with them"],
        [
            "Connections to the database",
            f"{with_reserve * _NODE_CORES * _CONNECTIONS:,}",
            f"{with_reserve} nodes, {_NODE_CORES} workers on each, {_CONNECTIONS} for each worker",
        ],
        [
            "Rows that requests read all day",
            f"{hot:.0f} GB",
            "users and families of the active accounts, with their indexes",
        ],
        [
            "Disk without the audit log",
            f"{users + sessions + families + consents:.0f} GB",
            f"users {users:.0f}, sessions {sessions:.0f}, families {families:.0f}, consents {consents:.0f}",
        ],
        [
            "Audit log, a day",
            f"{log:.0f} GB",
            f"{entries / 1e6:.0f} million entries; {30 * log / 1000:.1f} TB in 30 days",
        ],
    ]


def _peak(use: Use) -> float:
    return use.a_month * _ACTIVE / _MONTH * use.peak


def _busy(costs: Costs) -> tuple[float, float]:
    """Return the cores of the servers and of the database that are busy at peak."""
    server = sum(_peak(use) * costs[use.row].server_ms for use in USES) / 1000
    database = sum(_peak(use) * costs[use.row].database_ms for use in USES) / 1000
    return server, database


def _round_up(cores: float) -> int:
    """Round up to a multiple of four, because machines have such numbers of cores."""
    return 4 * math.ceil(cores / 4)
