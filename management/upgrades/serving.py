"""The serving nodes, and the contract migrations that would break them."""

from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.models import DurationField, ExpressionWrapper, F

from database.clock import DatabaseNow
from management.upgrades.models import Node
from management.upgrades.pending import Name


@dataclass(frozen=True, slots=True)
class Serving:
    """A node that was seen in the last three minutes."""

    name: str
    release: str
    seconds: int  # since the node was last seen
    needs: list[Name]  # the contract migrations that would remove what the node needs


def do_all_nodes_know(migration: str) -> bool:
    """Return whether the release of every serving node has this migration, such as ``users.0001_initial``."""
    return all(migration in knows for knows in Node.objects.present().values_list("knows", flat=True))


def find_nodes(connection: BaseDatabaseWrapper, contracts: list[Name]) -> list[Serving]:
    """Return the serving nodes, sorted by name, each with the contract migrations that would break it.

    A contract migration names the expand migrations that it completes. A node whose release has these does
    not need what the contract migration removes.
    """
    if Node._meta.db_table not in connection.introspection.table_names():
        return []
    migrations = MigrationLoader(None).disk_migrations
    completes = {
        name: {".".join(expand) for expand in getattr(migrations[name], "completes", ())}
        for name in contracts
    }
    silent = ExpressionWrapper(DatabaseNow() - F("seen_at"), output_field=DurationField())
    present = Node.objects.using(connection.alias).present().annotate(silent=silent).order_by("pk")
    return [
        Serving(
            name=name,
            release=release,
            seconds=int(silent.total_seconds()),
            needs=[contract for contract in contracts if not completes[contract] <= set(knows)],
        )
        for name, release, knows, silent in present.values_list("pk", "release", "knows", "silent")
    ]
