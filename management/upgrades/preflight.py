"""Checks before a migration: what would make it fail, and what it needs."""

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
    """Reasons not to migrate now, warnings, the pending migrations and the serving nodes."""

    refusals: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    pending: Pending | None = None
    nodes: list[Serving] = field(default_factory=list)


def check(connection: BaseDatabaseWrapper, *, confirmed: bool = False, forced: bool = False) -> Findings:
    """Check whether a database can be migrated.

    With ``confirmed``, the operator says that no node of an earlier release runs. With ``forced``, nodes that
    were seen recently are ignored.
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
    found = findings.pending = pending.find_pending(connection)
    findings.nodes = serving.nodes(connection, found.contract)
    findings.refusals += _refusals(connection, found, confirmed=confirmed)
    if confirmed and not forced:
        findings.refusals += _nodes_in_need(findings.nodes)
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
            f"the database was migrated by a newer release: this one does not know {_listed(found.unknown)}. "
            "Use that release, or restore the backup from before it"
        )
    if found.behind and not confirmed and not found.fresh:
        refusals.append(
            f"{_listed(found.contract)} of the previous release was never applied, and "
            f"{_listed(found.behind)} depends on it: when all nodes run that release, repeat with --yes"
        )
    return refusals


def _nodes_in_need(nodes: list[Serving]) -> list[str]:
    return [
        f"{node.name}, release {node.release}, was seen {node.seconds} seconds ago and needs what "
        f"{_listed(node.needs)} removes: replace it first. If it is gone for good, repeat in three "
        "minutes, or with --force"
        for node in nodes
        if node.needs
    ]


def is_too_old(version: int) -> bool:
    """Tell whether a version of PostgreSQL, in libpq's numbering, is too old."""
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
                "A migration that needs their tables retries, and gives up after --patience"
            )
        for table in sorted(_tables(found.expand + found.contract)):
            cursor.execute("SELECT pg_total_relation_size(to_regclass(%s))", [table])
            size = cursor.fetchone()[0] or 0
            if size >= _BIG:
                warnings.append(
                    f"{table} has {size // 2**20:,} MiB: the disk of the database needs as much free space"
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
    """Return the tables of the models that migrations change, if the models still exist."""
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
    listed = ", ".join(".".join(name) for name in names[:_MAX_NAMES])
    return listed + (f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else "")
