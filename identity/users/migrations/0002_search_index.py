"""An index for searches inside texts, where the database has one."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def create(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Index three-letter pieces of the folded text, by tenant. Both extensions are trusted ones."""
    if schema_editor.connection.vendor != "postgresql":
        return
    schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
    schema_editor.execute("CREATE EXTENSION IF NOT EXISTS btree_gin")
    schema_editor.execute(
        "CREATE INDEX user_search ON users_user USING gin (tenant_id, search_text gin_trgm_ops)"
    )


def drop(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Drop the index; the extensions may serve others."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP INDEX IF EXISTS user_search")


class Migration(migrations.Migration):
    dependencies = [("users", "0001_initial")]
    operations = [migrations.RunPython(create, drop)]
