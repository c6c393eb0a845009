"""Triggers that refuse to change the log, whoever asks, on both engines."""

from typing import Final

from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

_TABLE: Final = "audit_entry"

_POSTGRESQL: Final = f"""
CREATE OR REPLACE FUNCTION {_TABLE}_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE OR REPLACE TRIGGER {_TABLE}_no_change BEFORE UPDATE OR DELETE ON {_TABLE}
    FOR EACH ROW EXECUTE FUNCTION {_TABLE}_append_only();
CREATE OR REPLACE TRIGGER {_TABLE}_no_truncate BEFORE TRUNCATE ON {_TABLE}
    FOR EACH STATEMENT EXECUTE FUNCTION {_TABLE}_append_only();
"""

# SQLite has no TRUNCATE: a DELETE without WHERE runs the DELETE trigger like any other. Its INSERT OR
# REPLACE runs no DELETE trigger, however: an entry that is there already must not come again.
_SQLITE: Final = [
    f"""CREATE TRIGGER IF NOT EXISTS {_TABLE}_no_{name} BEFORE {verb} ON {_TABLE} {condition}
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"""
    for name, verb, condition in (
        ("update", "UPDATE", ""),
        ("delete", "DELETE", ""),
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


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers where they are missing."""
    with connection.cursor() as cursor:
        for statement in [_POSTGRESQL] if connection.vendor == "postgresql" else _SQLITE:
            cursor.execute(statement)


def missing(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the triggers that are not there; nothing without the table."""
    if _TABLE not in connection.introspection.table_names():
        return set()
    query = (
        "SELECT tgname FROM pg_trigger WHERE tgrelid = %s::regclass AND tgenabled <> 'D'"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s"
    )
    with connection.cursor() as cursor:
        cursor.execute(query, [_TABLE])
        return _EXPECTED[connection.vendor] - {name for (name,) in cursor.fetchall()}


def after_migrate(*, using: str, **_: object) -> None:
    """Create the triggers again: SQLite drops them when it rebuilds the table."""
    connection = connections[using]
    if _TABLE in connection.introspection.table_names():
        install(connection)
