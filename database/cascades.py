"""Tables with ON DELETE CASCADE in the database, for migrations of all apps."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import CreateModel
from django.db.migrations.state import ProjectState


class CreateCascadingModel(CreateModel):
    """Create a table whose foreign keys are all ON DELETE CASCADE in the database.

    Django deletes dependent rows itself, but only those of models that it knows. A node of the previous
    release does not know a new table, and could not delete the rows that the table refers to.
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
    """Add the clause to the schema editor's templates of foreign keys."""
    is_inline = bool(schema_editor.sql_create_inline_fk)  # SQLite writes them into CREATE TABLE
    name = "sql_create_inline_fk" if is_inline else "sql_create_fk"
    place = " DEFERRABLE" if is_inline else "%(deferrable)s"
    setattr(schema_editor, name, getattr(schema_editor, name).replace(place, f" ON DELETE CASCADE{place}"))
    try:
        yield
    finally:
        delattr(schema_editor, name)
