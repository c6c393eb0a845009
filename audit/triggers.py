"""Triggers that refuse to change the log, whoever asks, on both engines."""

from typing import Final

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from audit.models import LEAST_DAYS

_TABLE: Final = "audit_entry"

# The one exception: an entry that is older than its tenant wants it, while ``audit.retention`` is at work.
# The least number of days stands here too, so that no row of the other table can undercut it.
_MAY_GO: Final = f"""EXISTS (
    SELECT 1 FROM audit_retention AS kept WHERE kept.tenant_id = OLD.tenant_id AND kept.at_work
    AND kept.days >= {LEAST_DAYS} AND OLD.created_at < {{long_ago}})"""  # noqa: S608 - no outside value

_FUNCTION: Final = f"""
CREATE OR REPLACE FUNCTION {_TABLE}_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF {_MAY_GO.format(long_ago="clock_timestamp() - make_interval(days => kept.days)")} THEN
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

_LONG_AGO: Final = "STRFTIME('%Y-%m-%d %H:%M:%f', 'NOW', '-' || kept.days || ' days')"

# SQLite has no TRUNCATE: a DELETE without WHERE runs the DELETE trigger like any other. Its INSERT OR
# REPLACE runs no DELETE trigger, however: an entry that is there already must not come again.
_SQLITE: Final = [
    f"""CREATE TRIGGER {_TABLE}_no_{name} BEFORE {verb} ON {_TABLE} {condition}
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END"""
    for name, verb, condition in (
        ("update", "UPDATE", ""),
        ("delete", "DELETE", f"WHEN NOT {_MAY_GO.format(long_ago=_LONG_AGO)}"),
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
    """Create the triggers, as this release has them, in place of those that are there."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            for name in _EXPECTED["sqlite"]:
                cursor.execute(f"DROP TRIGGER IF EXISTS {name}")
            for statement in _SQLITE:
                cursor.execute(statement)
            return
        cursor.execute(_FUNCTION)
        fix_search_path(cursor, f"{_TABLE}_append_only")
        # Whoever changes triggers of a table holds up its writers, and that is everybody.
        if missing(connection):
            cursor.execute(_ON_POSTGRESQL)


def fix_search_path(cursor: CursorWrapper, function: str, *, security: str = "INVOKER") -> None:
    """Let a trigger function see the tables of its own schema, and no temporary table in their place.

    With ``security="DEFINER"`` the function has the rights of its owner, and nobody else can attach it.
    """
    cursor.execute("SELECT quote_ident(current_schema())")
    (schema,) = cursor.fetchone()
    cursor.execute(
        f"ALTER FUNCTION {function}() SECURITY {security} SET search_path = pg_catalog, {schema}, pg_temp"
    )
    cursor.execute(f"REVOKE EXECUTE ON FUNCTION {function}() FROM PUBLIC")


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
