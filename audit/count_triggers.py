"""Triggers that correct the stored numbers for inserts and deletes before the watermark.

See ``audit.counting``. The tables and the column ``before`` have the names of an earlier release. ``before``
is the watermark, and the end of a segment.
"""

from collections.abc import Set as AbstractSet
from typing import Final

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from database.triggers import Triggers, fix_search_path

_WATERMARKS: Final = "audit_counted"
_SEGMENTS: Final = "audit_stretch"
_NAMES: Final = frozenset({"audit_entry_stretch_insert", "audit_entry_stretch_delete"})
_EARLIER: Final = frozenset({"audit_entry_count_insert", "audit_entry_count_delete"})  # of 0.1.0

# On PostgreSQL, inserting an entry that is older than this fires the trigger.
LATE: Final = 30  # seconds

# Advancing the watermark locks its row, so the triggers lock the row before they read it.
_SOURCE_POSTGRESQL: Final = f"""
CREATE OR REPLACE FUNCTION audit_entry_came_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM {_WATERMARKS} WHERE tenant_id = NEW.tenant_id FOR UPDATE;
    UPDATE {_WATERMARKS} SET entries = entries + 1
        WHERE tenant_id = NEW.tenant_id AND before > NEW.created_at;
    UPDATE {_SEGMENTS} SET entries = entries + 1 WHERE tenant_id = NEW.tenant_id AND before = (
        SELECT min(before) FROM {_SEGMENTS} WHERE tenant_id = NEW.tenant_id AND before > NEW.created_at);
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION audit_entry_went() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM 1 FROM {_WATERMARKS} WHERE tenant_id IN (SELECT tenant_id FROM gone)
        ORDER BY tenant_id FOR UPDATE;
    UPDATE {_WATERMARKS} AS stored SET entries = entries - (SELECT count(*) FROM gone
        WHERE gone.tenant_id = stored.tenant_id AND gone.created_at < stored.before)
        WHERE tenant_id IN (SELECT tenant_id FROM gone);
    UPDATE {_SEGMENTS} AS segment SET entries = segment.entries - lost.entries
        FROM (SELECT tenant_id, (SELECT min(before) FROM {_SEGMENTS} AS later
                  WHERE later.tenant_id = gone.tenant_id AND later.before > gone.created_at) AS before,
              count(*) AS entries FROM gone GROUP BY 1, 2) AS lost
        WHERE segment.tenant_id = lost.tenant_id AND segment.before = lost.before;
    RETURN NULL;
END $$;
"""  # noqa: S608 - no outside value, as below
_FUNCTIONS_POSTGRESQL: Final = ("audit_entry_came_late", "audit_entry_went")
_TRIGGERS_POSTGRESQL: Final = f"""
CREATE OR REPLACE TRIGGER audit_entry_stretch_insert AFTER INSERT ON audit_entry FOR EACH ROW
    WHEN (NEW.created_at < clock_timestamp() - interval '{LATE} seconds')
    EXECUTE FUNCTION audit_entry_came_late();
CREATE OR REPLACE TRIGGER audit_entry_stretch_delete AFTER DELETE ON audit_entry REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION audit_entry_went();
"""

# SQLite has one writer at a time, so the watermark never passes an entry that is not visible yet, and the
# triggers need not lock its row.
_SQLITE: Final = [
    f"""CREATE TRIGGER IF NOT EXISTS audit_entry_stretch_{verb.lower()} AFTER {verb} ON audit_entry
    WHEN {row}.created_at < (SELECT before FROM {_WATERMARKS} WHERE tenant_id = {row}.tenant_id)
    BEGIN
        UPDATE {_WATERMARKS} SET entries = entries {change} WHERE tenant_id = {row}.tenant_id;
        UPDATE {_SEGMENTS} SET entries = entries {change} WHERE tenant_id = {row}.tenant_id AND before = (
            SELECT min(before) FROM {_SEGMENTS}
            WHERE tenant_id = {row}.tenant_id AND before > {row}.created_at);
    END"""  # noqa: S608
    for verb, row, change in (("INSERT", "NEW", "+ 1"), ("DELETE", "OLD", "- 1"))
]


class _LateEntries(Triggers):
    table = _SEGMENTS
    trigger_tables = ("audit_entry",)

    def names(self, vendor: str) -> AbstractSet[str]:
        return _NAMES

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create the triggers and delete the stored numbers, which may be wrong without the triggers."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            on = " ON audit_entry" if connection.vendor == "postgresql" else ""
            for name in _EARLIER:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}{on}")
            if connection.vendor == "postgresql":
                _replace_functions(cursor)
            for statement in [_TRIGGERS_POSTGRESQL] if connection.vendor == "postgresql" else _SQLITE:
                cursor.execute(statement)
            for table in (_WATERMARKS, _SEGMENTS):
                cursor.execute(f"DELETE FROM {table}")  # noqa: S608

    def update(self, connection: BaseDatabaseWrapper) -> None:
        """Replace the functions, which need no lock on the tables."""
        if connection.vendor == "postgresql":
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                _replace_functions(cursor)


def _replace_functions(cursor: CursorWrapper) -> None:
    """Create or replace the functions. They write with the rights of the tables' owner."""
    cursor.execute(_SOURCE_POSTGRESQL)
    for function in _FUNCTIONS_POSTGRESQL:
        fix_search_path(cursor, function, security="DEFINER")


LATE_ENTRIES: Final = _LateEntries()
