"""Triggers that store the number of rows of a table, so that lists need no COUNT.

On PostgreSQL the number is the sum of several rows, the shards, so that writers do not wait for each other. A
statement updates any shard that is not locked, or inserts another. There are at most as many shards as there
were concurrent writers. The audit log has a watermark instead: see ``audit.counting``.

The number can also be stored for each day, so that a page far from both ends of a list is found without
reading the rows before it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.core.checks import CheckMessage, Warning  # noqa: A004 - Django's name
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from database.triggers import Triggers, fix_search_path

_POSTGRESQL: Final = """
CREATE OR REPLACE FUNCTION {shards}_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
    sign int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    FOR change IN SELECT {values}, count(*) AS found FROM changed GROUP BY {by} LOOP
        UPDATE {shards} SET {number} = {number} + sign * change.found WHERE id = (
            SELECT id FROM {shards} WHERE {of_change} LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO {shards} ({by}, {number}) VALUES ({change_by}, sign * change.found);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION {shards}_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM {shards};
    ELSE
        DELETE FROM {shards} WHERE {of_parent};
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER {name}_insert AFTER INSERT ON {counted} REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {shards}_keep();
CREATE OR REPLACE TRIGGER {name}_delete AFTER DELETE ON {counted} REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {shards}_keep();
CREATE OR REPLACE TRIGGER {name}_truncate AFTER TRUNCATE ON {counted}
    FOR EACH STATEMENT EXECUTE FUNCTION {shards}_forget();
CREATE OR REPLACE TRIGGER {name}_forget AFTER DELETE ON {parent}
    FOR EACH ROW EXECUTE FUNCTION {shards}_forget();
"""

# SQLite has one writer at a time, so one shard is enough.
_SQLITE: Final = (
    """CREATE TRIGGER IF NOT EXISTS {name}_insert AFTER INSERT ON {counted} BEGIN
    INSERT INTO {shards} ({by}, {number}) SELECT {new_by}, 0
        WHERE NOT EXISTS (SELECT 1 FROM {shards} WHERE {of_new});
    UPDATE {shards} SET {number} = {number} + 1 WHERE {of_new}; END""",
    """CREATE TRIGGER IF NOT EXISTS {name}_delete AFTER DELETE ON {counted} BEGIN
    UPDATE {shards} SET {number} = {number} - 1 WHERE {of_old}; END""",
    """CREATE TRIGGER IF NOT EXISTS {name}_forget AFTER DELETE ON {parent} BEGIN
    DELETE FROM {shards} WHERE {of_parent}; END""",
)

# One statement sees the rows, and what the triggers have stored of them, in one state.
_COUNT: Final = """
INSERT INTO {shards} ({by}, {number}) SELECT {by}, sum(found) FROM (
    SELECT {values}, count(*) AS found FROM {counted} GROUP BY {by}
    UNION ALL SELECT {by}, -{number} FROM {shards}) AS difference
GROUP BY {by} HAVING sum(found) <> 0
"""

# The UTC day of a row's time.
_DAYS: Final = {
    "postgresql": "({row}{time} AT TIME ZONE 'UTC')::date",
    "sqlite": "date({row}{time})",
}

_ENDINGS: Final = {
    "postgresql": ("insert", "delete", "truncate", "forget"),
    "sqlite": ("insert", "delete", "forget"),
}


@dataclass(frozen=True)
class RowCount(Triggers):
    """The stored number of rows in table ``counted`` for each row in table ``parent``.

    This number is the sum of column ``number`` in table ``shards``. ``by`` maps the columns that refer to the
    parent, in both tables, to columns of the parent. If ``day_of`` names a time of the counted table that
    never changes, each day has a number, and column ``day`` of ``shards`` is its UTC day.
    """

    counted: str
    shards: str
    number: str
    parent: str
    by: Mapping[str, str]
    day_of: str = ""

    @property
    def table(self) -> str:
        """The table of the shards."""
        return self.shards

    @property
    def trigger_tables(self) -> tuple[str, ...]:
        """The counted table and the parent table."""
        return self.counted, self.parent

    def names(self, vendor: str) -> set[str]:
        """Return the names of the triggers on this engine."""
        return {f"{self._name}_{ending}" for ending in _ENDINGS[vendor]}

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create the triggers and count the existing rows.

        One transaction does both, and writers wait for it. The numbers of days are counted in a second one,
        for which nobody waits: they are not used until they add up to the total.
        """
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            self._create(cursor, connection.vendor)
            if not self.day_of:
                cursor.execute(self._fill(_COUNT, connection.vendor))
        if self.day_of:
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute(self._fill(_COUNT, connection.vendor))

    def _create(self, cursor: CursorWrapper, vendor: str) -> None:
        for statement in [_POSTGRESQL] if vendor == "postgresql" else _SQLITE:
            cursor.execute(self._fill(statement, vendor))
        if vendor == "postgresql":
            # The role that serves may write to a new table only when ``migrate`` has ended.
            for ending in ("keep", "forget"):
                fix_search_path(cursor, f"{self.shards}_{ending}", security="DEFINER")

    def warnings(self, databases: Sequence[str] | None, what: str, check_id: str) -> list[CheckMessage]:
        """Return a warning for each database that lacks triggers. ``what`` names the rows for operators."""
        return [
            Warning(
                f"the number of {what} may be wrong: missing triggers {', '.join(sorted(names))}",
                hint="run manage.py migrate, which creates them and counts the rows again",
                id=check_id,
            )
            for alias in databases or []
            if (names := self.missing(connections[alias]))
        ]

    @property
    def _name(self) -> str:
        return f"{self.counted}_{'day_' if self.day_of else ''}count"

    def _fill(self, statement: str, vendor: str) -> str:
        columns = [*self.by, *(["day"] if self.day_of else [])]
        return statement.format(
            name=self._name,
            counted=self.counted,
            shards=self.shards,
            number=self.number,
            parent=self.parent,
            by=", ".join(columns),
            values=", ".join(f"{value} AS {column}" for column, value in self._values("", vendor).items()),
            change_by=", ".join(f"change.{column}" for column in columns),
            of_change=" AND ".join(f"{column} = change.{column}" for column in columns),
            new_by=", ".join(self._values("NEW.", vendor).values()),
            of_new=self._matching("NEW.", vendor),
            of_old=self._matching("OLD.", vendor),
            of_parent=" AND ".join(f"{column} = OLD.{of_parent}" for column, of_parent in self.by.items()),
        )

    def _values(self, row: str, vendor: str) -> dict[str, str]:
        """Return an expression of a counted row for each column by which the shards are divided."""
        values = {column: f"{row}{column}" for column in self.by}
        if self.day_of:
            values["day"] = _DAYS[vendor].format(row=row, time=self.day_of)
        return values

    def _matching(self, row: str, vendor: str) -> str:
        return " AND ".join(f"{column} = {value}" for column, value in self._values(row, vendor).items())
