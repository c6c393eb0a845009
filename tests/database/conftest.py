"""Fixtures for the tests of prepared statements."""

from typing import Any

import pytest
from django.db import connection

from database.postgresql import prepared as module
from database.postgresql.cursor import Cursor


@pytest.fixture(params=["main thread", "other thread"])
def thread(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have new cursors execute as in the main thread, which signals interrupt, and as in others."""
    database: Any = connection
    monkeypatch.setattr(module, "_can_be_interrupted", lambda: request.param == "main thread")
    monkeypatch.setattr(database, "_prepared_cursor", None)


@pytest.fixture
def usual(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The statements that Django's cursor executes."""
    found: list[Any] = []
    execute = Cursor.execute

    def note(cursor: Cursor, sql: Any, *others: Any, **named: Any) -> Any:
        found.append(sql)
        return execute(cursor, sql, *others, **named)

    monkeypatch.setattr(Cursor, "execute", note)
    return found
