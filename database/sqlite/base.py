"""Django's SQLite backend, with the parameter limit of the installed library.

Django 5.2 assumes 999, the limit before 2020, and splits bulk inserts accordingly.
"""

import sqlite3

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.features import DatabaseFeatures as BaseDatabaseFeatures
from django.utils.functional import cached_property


class DatabaseFeatures(BaseDatabaseFeatures):
    """Django's features of SQLite, with the actual parameter limit."""

    @cached_property
    def max_query_params(self) -> int:  # type: ignore[override]
        """The maximum number of parameters of a statement."""
        self.connection.ensure_connection()
        limit: int = self.connection.connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        return limit


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's connection with these features."""

    features_class = DatabaseFeatures
