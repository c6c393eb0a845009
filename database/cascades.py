"""A migration operation for tables with ON DELETE CASCADE in the database."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import CreateModel
from django.db.migrations.state import ProjectState


class CreateCascadingModel(CreateModel):
    """Create a table whose foreign keys are all ON DELETE CASCADE in the database.

    Django deletes dependent rows itself, but only in tables that it knows. During an upgrade a node of the
    previous release does not know the new table. Without the cascade it could not delete rows that the new
    table refers to.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Create the table."""
        with _cascading(schema_editor):
            super().database_forwards(app_label, schema_editor, from_state, to_state)


@contextmanager
def _cascading(schema_editor: Any) -> Iterator[None]:
    """Add the clause to the schema editor's template for foreign keys."""
    is_inline = bool(schema_editor.sql_create_inline_fk)  # on SQLite, CREATE TABLE contains foreign keys
    name = "sql_create_inline_fk" if is_inline else "sql_create_fk"
    end = " DEFERRABLE" if is_inline else "%(deferrable)s"
    setattr(schema_editor, name, getattr(schema_editor, name).replace(end, f" ON DELETE CASCADE{end}"))
    try:
        yield
    finally:
        delattr(schema_editor, name)
