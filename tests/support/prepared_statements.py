"""Statements that are executed by a prepared name, or by the cursor of Django."""

import re
import time
from typing import Any

from django.db import DatabaseError

from database.postgresql import prepared as module


def run(database: Any, sql: str, *params: object, opener: str = "prepared_cursor") -> list[tuple[Any, ...]]:
    """Return the rows of a statement. ``opener`` is the method that opens the cursor."""
    with getattr(database, opener)() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())


def outcome(database: Any, opener: str, sql: str, params: Any) -> Any:
    """Return what a statement returned or raised, in a form that can be compared."""
    try:
        with getattr(database, opener)() as cursor:
            cursor.execute(sql, params)
            rows: Any = None
            if " RETURNING " in sql or sql.startswith("SELECT"):
                rows = cursor.fetchall()
            return cursor.rowcount, rows
    except DatabaseError as error:
        cause: Any = error.__cause__
        diagnosis = cause.diag
        facts = (diagnosis.constraint_name, timeless(diagnosis.message_detail or ""), diagnosis.severity)
        return type(error), timeless(str(error)), type(cause), cause.sqlstate, facts


def timeless(text: str) -> str:
    """Return a text without the times of the database's clock, which have microseconds."""
    return re.sub(r"[0-9-]{10} [0-9:]{8}\.[0-9]+\+00", "now", text)


def prepare(database: Any, sql: str, params: Any) -> None:
    """Prepare a statement without running it, as psycopg does after some runs."""
    database.prepared_cursor().close()
    cursor, raw = database._prepared_cursor, database.connection
    query, formats = module._read(sql, len(params))
    cursor._transformer.dump_sequence(params, formats)
    types = cursor._transformer.types or ()
    name = f"test_{time.monotonic_ns()}".encode()
    assert raw.pgconn.prepare(name, query, types).error_message == b""
    raw._prepared._names[query, types] = name
