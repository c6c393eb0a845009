"""Where migrations look for the database's clock."""

from database.clock import DatabaseNow  # noqa: F401
