"""Checks before a migration, for reasons why it would fail or break a serving node."""

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
_LONG: Final = 60  # seconds after which an open transaction is reported
_BIG: Final = 100 * 1024 * 1024  # bytes from which a table is reported
_MAX_NAMES: Final = 5  # in a sentence


@dataclass(slots=True)
class Findings:
    """The reasons not to migrate, the warnings, the pending migrations and the serving nodes."""

    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pending: Pending | None = None
    nodes: list[Serving] = field(default_factory=list)


def check(connection: BaseDatabaseWrapper, *, confirmed: bool = False, forced: bool = False) -> Findings:
    """Check whether a database can be migrated.

    ``confirmed`` means that the operator confirms that no node of an earlier release runs. With ``forced``,
    nodes that were seen recently are ignored.
    """
    findings = Findings()
    try:
        connection.ensure_connection()
    except NotSupportedError as error:
        findings.refusals.append(f"the database is too old: {error}")
        return findings
    except DatabaseError as error:
        findings.refusals.append(f"the database cannot be reached: {error}")
        return findings
    found = findings.pending = pending.find_pending(connection)
    findings.nodes = serving.find_nodes(connection, found.contract)
    findings.refusals += _refusals(connection, found, confirmed=confirmed)
    if confirmed and not forced:
        findings.refusals += _node_refusals(findings.nodes)
    if found.expand or found.contract:
        findings.refusals += rights.find_missing(connection, _tables(found.expand + found.contract))
    if (found.expand or found.contract) and not found.fresh:
        findings.warnings += (_on_postgresql if connection.vendor == "postgresql" else _on_sqlite)(
            connection, found
        )
    return findings


def _refusals(connection: BaseDatabaseWrapper, found: Pending, *, confirmed: bool) -> list[str]:
    refusals = []
    if connection.vendor == "postgresql" and is_too_old(getattr(connection, "pg_version", 0)):
        refusals.append(f"PostgreSQL must be {_OLDEST_POSTGRESQL} or newer")
    if found.unknown:
        refusals.append(
            f"a newer release migrated the database: this release does not know {_join(found.unknown)}. "
            "Use the newer release, or restore a backup from before its migration"
        )
    if found.behind and not confirmed and not found.fresh:
        refusals.append(
            f"{_join(found.contract)} of the previous release was not applied, and "
            f"{_join(found.behind)} depends on it: when all nodes run that release, try again with --yes"
        )
    return refusals


def _node_refusals(nodes: list[Serving]) -> list[str]:
    return [
        f"{node.name}, release {node.release}, was seen {node.seconds} seconds ago and needs what "
        f"{_join(node.needs)} removes: upgrade this node first. If it was shut down for good, try again in "
        "three minutes, or use --force"
        for node in nodes
        if node.needs
    ]


def is_too_old(version: int) -> bool:
    """Return whether a version of PostgreSQL, in libpq's numbering, is too old."""
    return version // 10_000 < _OLDEST_POSTGRESQL


def _on_postgresql(connection: BaseDatabaseWrapper, found: Pending) -> list[str]:
    warnings = []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(max(extract(epoch FROM now() - xact_start))::int, 0) "
            "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND now() - xact_start > make_interval(secs => %s)",
            [_LONG],
        )
        number, oldest = cursor.fetchone()
        if number:
            warnings.append(
                f"{number} transactions are open, the oldest for {oldest} seconds. "
                "A migration that needs their tables retries, and gives up after --patience seconds"
            )
        for table in sorted(_tables(found.expand + found.contract)):
            cursor.execute("SELECT pg_total_relation_size(to_regclass(%s))", [table])
            size = cursor.fetchone()[0] or 0
            if size >= _BIG:
                warnings.append(
                    f"{table} has {size // 2**20:,} MiB: the database needs as much free disk space"
                )
    return warnings


def _on_sqlite(connection: BaseDatabaseWrapper, found: Pending) -> list[str]:
    path = Path(str(connection.settings_dict["NAME"]))
    if not path.is_file():
        return []
    size, free = path.stat().st_size, shutil.disk_usage(path.parent).free
    warnings = ["SQLite allows one writer: copy the file, and stop the node during the migration"]
    if free < 2 * size:
        warnings.append(
            f"{path.parent} has {free // 2**20:,} MiB free, "
            f"but rebuilding tables may need {2 * size // 2**20:,} MiB"
        )
    return warnings


def _tables(names: list[Name]) -> set[str]:
    """Return the tables that migrations change, except those whose model no longer exists."""
    disk = MigrationLoader(None).disk_migrations
    tables = set()
    for name in names:
        for operation in disk[name].operations:
            model: Any = getattr(operation, "model_name", None) or getattr(operation, "name", None)
            try:
                tables.add(apps.get_model(name[0], str(model))._meta.db_table)
            except LookupError:
                continue
    return tables


def _join(names: list[Name]) -> str:
    listed = ", ".join(".".join(name) for name in names[:_MAX_NAMES])
    return listed + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")
