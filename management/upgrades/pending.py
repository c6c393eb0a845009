"""The migrations of this release that a database lacks: expand and contract migrations."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations import Migration
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

Name = tuple[str, str]

CONTRACT: Final = "contract"


def is_contract(migration: Migration) -> bool:
    """Tell whether a migration removes what an earlier release needs."""
    return getattr(migration, "kind", None) == CONTRACT


def needed_to_serve() -> frozenset[Name]:
    """Return the migrations that a node of this release needs: all but contract migrations."""
    return frozenset(_Disk().expanding)


class _Disk:
    """The migrations of this release."""

    def __init__(self) -> None:
        self.loader = MigrationLoader(None)
        self.all: dict[Name, Migration] = dict(self.loader.disk_migrations)

    @cached_property
    def contracts(self) -> set[Name]:
        return {name for name, migration in self.all.items() if is_contract(migration)}

    @cached_property
    def expanding(self) -> set[Name]:
        return self.all.keys() - self.contracts

    def behind_a_contract(self, pending: set[Name]) -> set[Name]:
        """Return the migrations that depend on a pending contract migration."""
        contracts = self.contracts & pending
        return {
            name
            for name in pending - contracts
            if contracts.intersection(self.loader.graph.forwards_plan(name))
        }


@dataclass(frozen=True, slots=True)
class Pending:
    """How a database differs from this release."""

    fresh: bool  # nothing was ever applied, so no node can be running
    unknown: list[Name]  # applied, but unknown to this release: a newer release migrated the database
    expand: list[Name]
    contract: list[Name]
    behind: list[Name]  # expand migrations that depend on a pending contract migration

    @property
    def last_of_each_app(self) -> dict[str, str]:
        """The last migration of each app that can be applied without a contract migration."""
        return dict(sorted(self.expand))


def find_pending(connection: BaseDatabaseWrapper) -> Pending:
    """Compare a database with this release."""
    disk = _Disk()
    applied = set(MigrationRecorder(connection).applied_migrations())
    replaced = {name for migration in disk.all.values() for name in migration.replaces}
    lacking = set(disk.all) - applied
    behind = disk.behind_a_contract(lacking)
    return Pending(
        fresh=not applied,
        unknown=sorted(applied - set(disk.all) - replaced),
        expand=sorted((lacking & disk.expanding) - behind),
        contract=sorted(lacking & disk.contracts),
        behind=sorted(behind),
    )
