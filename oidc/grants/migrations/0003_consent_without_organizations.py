from django.db import migrations, models


class Migration(migrations.Migration):
    """Nodes no longer read or write the column; nodes of 0.1.2 do. Its contract ships with 0.1.4."""

    kind = "expand"

    dependencies = [("grants", "0002_consent_targets")]

    operations = [
        migrations.AlterField(
            "consent", "organizations", models.JSONField(default=list, db_default=models.Value([], models.JSONField()))
        ),
        migrations.SeparateDatabaseAndState(state_operations=[migrations.RemoveField("consent", "organizations")]),
    ]
