"""Indexes that are built while nodes serve requests, for migrations of all apps."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddIndex
from django.db.migrations.state import ProjectState


class AddIndexOnline(AddIndexConcurrently):
    """Build an index without blocking writers. SQLite, which has one writer at a time, builds it as usual.

    The migration needs ``atomic = False``. It first drops the remains of an interrupted build, so it can be
    repeated.
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
        with _patient(schema_editor.connection):
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
        with _patient(schema_editor.connection):
            super().database_backwards(app_label, schema_editor, from_state, to_state)


@contextmanager
def _patient(connection: BaseDatabaseWrapper) -> Iterator[None]:
    """Wait for running transactions without a time limit: no other statement queues behind this one."""
    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        before = cursor.fetchone()[0]
        cursor.execute("SET lock_timeout = 0")
        try:
            yield
        finally:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [before])
