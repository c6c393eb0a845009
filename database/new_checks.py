"""A migration operation that adds a check of columns that the same migration adds."""

from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import AddConstraint
from django.db.migrations.state import ProjectState


class AddCheckOfNewColumns(AddConstraint):
    """Add a check constraint without reading the table.

    Existing rows and the rows of older nodes have the columns' defaults, which must satisfy the check. So
    PostgreSQL need not validate them while writers wait. SQLite, which rebuilds the table, does.
    """

    def database_forwards(
        self,
        app_label: str,
        schema_editor: BaseDatabaseSchemaEditor,
        from_state: ProjectState,
        to_state: ProjectState,
    ) -> None:
        """Add the constraint."""
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.model_name)
        if self.allow_migrate_model(schema_editor.connection.alias, model):
            statement = self.constraint.create_sql(model, schema_editor)
            schema_editor.execute(f"{statement} NOT VALID", params=None)
