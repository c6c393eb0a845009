from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("audit", "0004_filters")]

    # The triggers that keep it are created after every migrate: audit.count_triggers.
    operations = [
        migrations.CreateModel(
            name="Stretch",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "before", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant_id", models.CharField(max_length=36)),
                ("before", models.DateTimeField()),
                ("entries", models.BigIntegerField()),
            ],
            options={"db_table": "audit_stretch"},
        ),
    ]
