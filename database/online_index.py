"""A migration operation that builds an index while nodes serve requests."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddIndex
from django.db.migrations.state import ProjectState


class AddIndexOnline(AddIndexConcurrently):
    """Build an index without blocking writers. SQLite, which has one writer at a time, builds it as usual.

    The migration needs ``atomic = False``. An interrupted build leaves an invalid index, which the next run
    drops first.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Build the index."""
        if schema_editor.connection.vendor != "postgresql":
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)
            return
        with _no_lock_timeout(schema_editor.connection):
            name = schema_editor.quote_name(self.index.name)
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)

    def database_backwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Drop the index."""
        if schema_editor.connection.vendor != "postgresql":
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)
            return
        with _no_lock_timeout(schema_editor.connection):
            super().database_backwards(app_label, schema_editor, from_state, to_state)


@contextmanager
def _no_lock_timeout(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Wait for locks without a timeout. This is safe, because no other statement waits for this one."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        before = cursor.fetchone()[0]
        cursor.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
