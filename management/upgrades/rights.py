"""Whether the role, or the user, that would migrate may change what has to be changed."""

import os
from pathlib import Path

from django.db.backends.base.base import BaseDatabaseWrapper


def lacking(connection: BaseDatabaseWrapper, tables: set[str]) -> list[str]:
    """Return what speaks against changing these tables and making new ones, as sentences."""
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
            return ["the database takes no writes: it is a standby, or set to read only"]
        said = (
            [] if may_create else [f"{role} may not make tables: GRANT CREATE ON SCHEMA {schema} TO {role}"]
        )
        cursor.execute(
            "SELECT relname, pg_get_userbyid(relowner) FROM pg_class "
            "WHERE oid IN (SELECT to_regclass(name) FROM unnest(%s::text[]) AS name) "
            "AND NOT pg_has_role(relowner, 'USAGE') ORDER BY relname",
            [list(tables)],
        )
        said += [
            f"{table} belongs to {owner}, and {role} may not change it: migrate as {owner}"
            for table, owner in cursor.fetchall()
        ]
    return said


def _on_sqlite(path: Path) -> list[str]:
    if not path.is_file() or (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return []
    return [f"{path} or its folder cannot be written by this user: migrate as the user of the server"]
