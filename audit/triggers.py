"""Triggers that make the audit log append-only."""

from collections.abc import Set as AbstractSet
from typing import Final

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit.models import MIN_DAYS
from database.triggers import Triggers, fix_search_path

_TABLE: Final = "audit_entry"

# The only exception: ``audit.retention`` deletes entries that are older than their tenant's retention. The
# minimum is checked here too, because another program could write a smaller number into the table.
_IS_DELETABLE: Final = f"""EXISTS (
    SELECT 1 FROM audit_retention AS retention WHERE retention.tenant_id = OLD.tenant_id AND retention.at_work
    AND retention.days >= {MIN_DAYS} AND OLD.created_at < {{threshold}})"""  # noqa: S608 - no outside value

_FUNCTION: Final = f"""
CREATE OR REPLACE FUNCTION {_TABLE}_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF {_IS_DELETABLE.format(threshold="clock_timestamp() - make_interval(days => retention.days)")} THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
"""
_ON_POSTGRESQL: Final = f"""
CREATE OR REPLACE TRIGGER {_TABLE}_no_change BEFORE UPDATE OR DELETE ON {_TABLE}
    FOR EACH ROW EXECUTE FUNCTION {_TABLE}_append_only();
CREATE OR REPLACE TRIGGER {_TABLE}_no_truncate BEFORE TRUNCATE ON {_TABLE}
    FOR EACH STATEMENT EXECUTE FUNCTION {_TABLE}_append_only();
"""

_THRESHOLD: Final = "STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW', '-' || retention.days || ' days')"

# SQLite has no TRUNCATE, and a DELETE without WHERE fires the DELETE trigger. INSERT OR REPLACE does not fire
# that trigger, so inserting an existing id is refused.
_SQLITE: Final = [
    f"""CREATE TRIGGER {_TABLE}_no_{name} BEFORE {verb} ON {_TABLE} {condition}
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"""
    for name, verb, condition in (
        ("update", "UPDATE", ""),
        ("delete", "DELETE", f"WHEN NOT {_IS_DELETABLE.format(threshold=_THRESHOLD)}"),
        (
            "replace",
            "INSERT",
            f"WHEN EXISTS (SELECT 1 FROM {_TABLE} WHERE id = NEW.id OR rowid = NEW.rowid)",  # noqa: S608
        ),
    )
]

_EXPECTED: Final = {
    "postgresql": {f"{_TABLE}_no_change", f"{_TABLE}_no_truncate"},
    "sqlite": {f"{_TABLE}_no_update", f"{_TABLE}_no_delete", f"{_TABLE}_no_replace"},
}


class _AppendOnly(Triggers):
    table = _TABLE
    trigger_tables = (_TABLE,)

    def names(self, vendor: str) -> AbstractSet[str]:
        return _EXPECTED[vendor]

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create or replace the triggers."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                for name in _EXPECTED["sqlite"]:
                    cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
                for statement in _SQLITE:
                    cursor.execute(statement)
                return
            cursor.execute(_FUNCTION)
            fix_search_path(cursor, f"{_TABLE}_append_only")
            # Creating a trigger blocks all writers of the table, so it is done only if one is missing.
            if self.missing(connection):
                cursor.execute(_ON_POSTGRESQL)

    update = install


APPEND_ONLY: Final = _AppendOnly()
