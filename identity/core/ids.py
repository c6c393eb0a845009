"""The path under which migrations refer to ``database.ids.new``."""

from database.ids import new  # noqa: F401
