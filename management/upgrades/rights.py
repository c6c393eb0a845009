"""Checks of the rights to migrate: of the database role, or of the system's user with SQLite."""

import os
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper


def find_missing(connection: BaseDatabaseWrapper, tables: set[str]) -> list[str]:
    """Return a sentence for each right that is missing to change these tables and to create tables."""
    if connection.vendor == "postgresql":
        return _on_postgresql(connection, tables)
    return _on_sqlite(Path(str(connection.settings_dict["NAME"])))


def _on_postgresql(connection: BaseDatabaseWrapper, tables: set[str]) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT current_user, current_schema(), current_setting('transaction_read_only')::bool, "
            "has_schema_privilege(current_schema(), 'CREATE')"
        )
        role, schema, read_only, may_create = cursor.fetchone()
        if read_only:
            return ["the database is read-only: connect to the primary, or check its configuration"]
        missing = (
            [] if may_create else [f"{role} may not create tables: GRANT CREATE ON SCHEMA {schema} TO {role}"]
        )
        cursor.execute(
            "SELECT relname, pg_get_userbyid(relowner) FROM pg_class "
            "WHERE oid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name) "
            "AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname",
            [list(tables)],
        )
        missing += [
            f"{table} belongs to {owner}, and {role} may not change it: run migrate as {owner}"
            for table, owner in cursor.fetchall()
        ]
    return missing


def _on_sqlite(path: Path) -> list[str]:
    if not path.is_file() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return []
    return [f"this user cannot write to {path} or its folder: run migrate as the user that runs the server"]
