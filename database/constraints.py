"""Violations of constraints that are no bugs: another request has just deleted a row."""

from typing import Final

_POSTGRESQL: Final = "23503"  # foreign_key_violation
_SQLITE: Final = "SQLITE_CONSTRAINT_FOREIGNKEY"


def is_foreign_key_violation(error: BaseException) -> bool:
    """Return whether an error means that a row refers to another one that has just been deleted.

    A value that is missing, wrong or repeated violates other constraints.
    """
    cause = error.__cause__
    is_of_postgresql = getattr(cause, "sqlstate", "") == _POSTGRESQL
    return is_of_postgresql or getattr(cause, "sqlite_errorname", "") == _SQLITE
