"""Where migrations look for the ids of rows."""

from database.ids import new  # noqa: F401
