"""The expand and contract migrations of this release that are not applied to a database."""

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
    """Return whether a migration removes what an earlier release needs."""
    return getattr(migration, "kind", None) == CONTRACT


def get_required_migrations() -> frozenset[Name]:
    """Return the migrations that a node of this release needs: all but contract migrations."""
    return frozenset(_Release().expanding)


class _Release:
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

    def behind_contracts(self, pending: set[Name]) -> set[Name]:
        """Return the expand migrations that depend on a pending contract migration."""
        contracts = self.contracts & pending
        return {
            name
            for name in pending - contracts
            if contracts.intersection(self.loader.graph.forwards_plan(name))
        }


@dataclass(frozen=True, slots=True)
class Pending:
    """The differences between the migrations of this release and those applied to a database."""

    fresh: bool  # no migration was ever applied, so no node can be running
    unknown: list[Name]  # applied by a newer release, and unknown to this one
    expand: list[Name]
    contract: list[Name]
    behind: list[Name]  # expand migrations that depend on a pending contract migration

    @property
    def last_of_each_app(self) -> dict[str, str]:
        """The last migration of each app that can be applied without a contract migration."""
        return dict(sorted(self.expand))


def find_pending(connection: BaseDatabaseWrapper) -> Pending:
    """Return the differences between this release and a database."""
    release = _Release()
    applied = set(MigrationRecorder(connection).applied_migrations())
    replaced = {name for migration in release.all.values() for name in migration.replaces}
    lacking = set(release.all) - applied
    behind = release.behind_contracts(lacking)
    return Pending(
        fresh=not applied,
        unknown=sorted(applied - set(release.all) - replaced),
        expand=sorted((lacking & release.expanding) - behind),
        contract=sorted(lacking & release.contracts),
        behind=sorted(behind),
    )
