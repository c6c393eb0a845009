"""What can be known to go wrong before a migration begins, and what it may take."""

import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.apps import apps
from django.db import DatabaseError, NotSupportedError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from management.upgrades import pending, rights, serving
from management.upgrades.pending import Name, Pending
from management.upgrades.serving import Serving

_OLDEST_POSTGRESQL: Final = 14
_LONG: Final = 60  # seconds that a transaction may be open before it is worth a word
_BIG: Final = 100 * 1024 * 1024  # bytes of a table
_MORE: Final = 5  # names that a sentence repeats


@dataclass(slots=True)
class Findings:
    """What speaks against migrating now, what to look at first, and what will be done."""

    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pending: Pending | None = None
    nodes: list[Serving] = field(default_factory=list)


def look(connection: BaseDatabaseWrapper, *, confirmed: bool = False, forced: bool = False) -> Findings:
    """Look at a database.

    ``confirmed`` says that no node of an earlier release runs; ``forced``, that those that were
    seen a moment ago do not count.
    """
    findings = Findings()
    try:
        connection.ensure_connection()
    except NotSupportedError as error:
        findings.refusals.append(f"the database is too old: {error}")
        return findings
    except DatabaseError as error:
        findings.refusals.append(f"the database does not answer: {error}")
        return findings
    found = findings.pending = pending.of(connection)
    findings.nodes = serving.nodes(connection, found.contract)
    findings.refusals += _refusals(connection, found, confirmed=confirmed)
    if confirmed and not forced:
        findings.refusals += _needed_still(findings.nodes)
    if found.expand or found.contract:
        findings.refusals += rights.lacking(connection, _tables(found.expand + found.contract))
    if (found.expand or found.contract) and not found.fresh:
        findings.warnings += (_on_postgresql if connection.vendor == "postgresql" else _on_sqlite)(
            connection, found
        )
    return findings


def _refusals(connection: BaseDatabaseWrapper, found: Pending, *, confirmed: bool) -> list[str]:
    said = []
    if connection.vendor == "postgresql" and is_too_old(getattr(connection, "pg_version", 0)):
        said.append(f"PostgreSQL must be {_OLDEST_POSTGRESQL} or newer")
    if found.unknown:
        said.append(
            f"the database is of a newer release than this one, which does not know "
            f"{_listed(found.unknown)}: "
            "use that release, or restore the backup from before it"
        )
    if found.behind and not confirmed and not found.fresh:
        said.append(
            f"{_listed(found.contract)} of the release before was never applied, and {_listed(found.behind)} "
            "builds on it: when all nodes run the release before this one, repeat with --yes"
        )
    return said


def _needed_still(nodes: list[Serving]) -> list[str]:
    return [
        f"{node.name} of release {node.release} was seen {node.seconds} seconds ago and needs what "
        f"{_listed(node.needs)} takes away: replace it first. If it is gone for good, repeat in three "
        "minutes, or with --force"
        for node in nodes
        if node.needs
    ]


def is_too_old(version: int) -> bool:
    """Tell whether a version of PostgreSQL, as its library numbers them, is too old."""
    return version // 10_000 < _OLDEST_POSTGRESQL


def _on_postgresql(connection: BaseDatabaseWrapper, found: Pending) -> list[str]:
    said = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(max(extract(epoch FROM now() - xact_start))::int, 0) "
            "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND now() - xact_start > make_interval(secs => %s)",
            [_LONG],
        )
        number, oldest = cursor.fetchone()
        if number:
            said.append(
                f"{number} transactions are open, the oldest for {oldest} seconds: "
                "a migration that needs their tables tries again and again, and gives up after --patience"
            )
        for table in sorted(_tables(found.expand + found.contract)):
            cursor.execute("SELECT pg_total_relation_size(to_regclass(%s))", [table])
            size = cursor.fetchone()[0] or 0
            if size >= _BIG:
                said.append(
                    f"{table} has {size // 2**20:,} MiB: have as much free on the disk of the database"
                )
    return said


def _on_sqlite(connection: BaseDatabaseWrapper, found: Pending) -> list[str]:
    path = Path(str(connection.settings_dict["NAME"]))
    if not path.is_file():
        return []
    size, free = path.stat().st_size, shutil.disk_usage(path.parent).free
    said = ["SQLite has one writer: stop the node while it migrates, and copy the file before"]
    if free < 2 * size:
        said.append(
            f"{path.parent} has {free // 2**20:,} MiB free, "
            f"and rebuilding tables may take {2 * size // 2**20:,}"
        )
    return said


def _tables(names: list[Name]) -> set[str]:
    """Return the tables that migrations speak of, as far as they still exist."""
    disk = MigrationLoader(None).disk_migrations
    found = set()
    for name in names:
        for operation in disk[name].operations:
            model: Any = getattr(operation, "model_name", None) or getattr(operation, "name", None)
            try:
                found.add(apps.get_model(name[0], str(model))._meta.db_table)
            except LookupError:
                continue
    return found


def _listed(names: list[Name]) -> str:
    shown = ", ".join(".".join(name) for name in names[:_MORE])
    return shown + (f" and {len(names) - _MORE} more" if len(names) > _MORE else "")
