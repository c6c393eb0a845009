"""Django's SQLite backend, with the parameter limit of the installed library, and timestamps of one length.

Django 5.2 assumes a limit of 999 parameters, as before 2020, and splits bulk inserts accordingly.
"""

import sqlite3
from datetime import datetime

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.features import DatabaseFeatures as BaseDatabaseFeatures
from django.db.backends.sqlite3.operations import DatabaseOperations as BaseDatabaseOperations
from django.utils.functional import cached_property


class DatabaseFeatures(BaseDatabaseFeatures):
    """Django's features of SQLite, with the actual parameter limit."""

    @cached_property
    def max_query_params(self) -> int:  # type: ignore[override]
        """The maximum number of parameters of a statement."""
        self.connection.ensure_connection()
        limit: int = self.connection.connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        return limit


class DatabaseOperations(BaseDatabaseOperations):
    """Django's operations of SQLite, which write each timestamp with six digits of a second.

    Django omits the digits of a whole second. SQLite compares timestamps as text, so such a timestamp would
    not equal the one that ``database.clock.DatabaseNow`` has stored.
    """

    def adapt_datetimefield_value(self, value: datetime | None) -> str | None:
        """Return the text of a timestamp, in UTC."""
        text: str | None = super().adapt_datetimefield_value(value)
        return text if value is None or value.microsecond else f"{text}.000000"


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection with these features and operations."""

    features_class = DatabaseFeatures
    ops_class = DatabaseOperations
