"""Conditions that lock rows without waiting. On SQLite, which has one writer at a time, they lock nothing."""

from typing import Any, ClassVar

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Exists
from django.db.models.sql.compiler import SQLCompiler


class _ExistsUnlocked(Exists):
    locking: ClassVar[str]

    def as_postgresql(
        self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **options: Any
    ) -> tuple[str, Any]:
        """Return the SQL and its parameters."""
        template = f"EXISTS(%(subquery)s {self.locking} SKIP LOCKED)"
        return self.as_sql(compiler, connection, template=template, **options)


class ExistsUndeleted(_ExistsUnlocked):
    """The condition that a row exists, and that no other transaction is deleting it.

    Nobody can delete the row until the transaction ends. So the transaction can insert rows that refer to it,
    and does not wait when the foreign keys are checked.
    """

    locking = "FOR KEY SHARE"


class ExistsUnchanged(_ExistsUnlocked):
    """The condition that a row exists, and that no other transaction is changing or deleting it.

    Nobody can change the row until the transaction ends.
    """

    locking = "FOR SHARE"
