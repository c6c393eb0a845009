"""The database's clock, which all nodes share."""

from datetime import timedelta
from typing import Any

from django.db.models import DateTimeField, Expression, ExpressionWrapper, Func
from django.db.models.functions import Now


class DatabaseNow(Now):
    """``Now`` with six digits of a second on SQLite, which compares timestamps as text."""

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Write milliseconds with six digits, because ``.123`` would sort before ``.123000``."""
        template = "STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f000', 'NOW')"
        return self.as_sql(compiler, connection, template=template, **context)


class SecondsAgo(Func):
    """The database's time, less a number of seconds that an expression computes."""

    output_field = DateTimeField()
    template = "(STATEMENT_TIMESTAMP() - (%(expressions)s) * INTERVAL '1 second')"  # PostgreSQL

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Compile for SQLite, with six digits as in ``DatabaseNow``."""
        seconds = "'-' || (%(expressions)s) || ' seconds'"
        template = f"STRFTIME('%%%%Y-%%%%m-%%%%d %%%%H:%%%%M:%%%%f000', 'NOW', {seconds})"
        return self.as_sql(compiler, connection, template=template, **context)


def seconds_ahead(seconds: int) -> Expression:
    """Return the database's time plus a number of seconds, which may be negative."""
    return ExpressionWrapper(DatabaseNow() + timedelta(seconds=seconds), DateTimeField())
