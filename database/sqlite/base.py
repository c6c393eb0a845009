"""Django's SQLite, told how many parameters the library that is there takes.

Django 5.2 assumes 999, the limit of 2019, and cuts what it inserts at once into pieces by it.
"""

import sqlite3

from django.db.backends.sqlite3 import base
from django.db.backends.sqlite3.features import DatabaseFeatures as DjangosFeatures
from django.utils.functional import cached_property


class DatabaseFeatures(DjangosFeatures):
    """What this SQLite can do."""

    @cached_property
    def max_query_params(self) -> int:  # type: ignore[override]
        """How many parameters a statement may have."""
        self.connection.ensure_connection()
        limit: int = self.connection.connection.getlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER)
        return limit


class DatabaseWrapper(base.DatabaseWrapper):
    """A connection of Django's, with these features."""

    features_class = DatabaseFeatures
