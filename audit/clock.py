"""The database's clock, under the name that migrations use."""

from database.clock import DatabaseNow  # noqa: F401
