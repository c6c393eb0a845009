"""Database triggers, which are created after each ``migrate`` and checked by system checks."""

from abc import ABC, abstractmethod
from collections.abc import Set as AbstractSet

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper


class Triggers(ABC):
    """A group of triggers that are installed together."""

    @property
    @abstractmethod
    def table(self) -> str:
        """A table that must exist before the triggers are created."""

    @property
    @abstractmethod
    def trigger_tables(self) -> tuple[str, ...]:
        """The tables that the triggers are on."""

    @abstractmethod
    def names(self, vendor: str) -> AbstractSet[str]:
        """Return the names of the triggers on this engine."""

    @abstractmethod
    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create the triggers."""

    def update(self, connection: BaseDatabaseWrapper) -> None:  # noqa: B027 - optional
        """Update existing triggers to this release."""

    def missing(self, connection: BaseDatabaseWrapper) -> set[str]:
        """Return the names of the missing triggers, or an empty set if ``table`` does not exist yet."""
        if not self._has_table(connection):
            return set()
        tables = ", ".join(["%s"] * len(self.trigger_tables))
        query = (
            f"SELECT tgname FROM pg_trigger WHERE tgenabled <> 'D' AND tgrelid::regclass::text IN ({tables})"  # noqa: S608
            if connection.vendor == "postgresql"
            else f"SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name IN ({tables})"  # noqa: S608
        )
        with connection.cursor() as cursor:
            cursor.execute(query, self.trigger_tables)
            return set(self.names(connection.vendor)) - {name for (name,) in cursor.fetchall()}

    def after_migrate(self, *, using: str, **_: object) -> None:
        """Create the triggers if one is missing; otherwise update them.

        SQLite drops triggers when it rebuilds a table.
        """
        connection = connections[using]
        if self.missing(connection):
            self.install(connection)
        elif self._has_table(connection):
            self.update(connection)

    def _has_table(self, connection: BaseDatabaseWrapper) -> bool:
        return self.table in connection.introspection.table_names()


def fix_search_path(cursor: CursorWrapper, function: str, *, security: str = "INVOKER") -> None:
    """Make a trigger function use the tables of the current schema, never temporary tables.

    With ``security="DEFINER"`` the function runs with the rights of its owner. No other role may call it.
    """
    cursor.execute("SELECT quote_ident(current_schema())")
    (schema,) = cursor.fetchone()
    cursor.execute(
        f"ALTER FUNCTION {function}() SECURITY {security} SET search_path = pg_catalog, {schema}, pg_temp"
    )
    cursor.execute(f"REVOKE EXECUTE ON FUNCTION {function}() FROM PUBLIC")
