from django.db import migrations, models


class Migration(migrations.Migration):
    """Rename the models of the stored counts. The tables and columns keep their names."""

    kind = "expand"

    dependencies = [("audit", "0007_identifier_index")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.RenameModel("Counted", "CountWatermark"),
                migrations.AlterField("CountWatermark", "before", models.DateTimeField(db_column="before")),
                migrations.RenameField("CountWatermark", "before", "watermark"),
                migrations.DeleteModel("Stretch"),
                migrations.CreateModel(
                    name="CountSegment",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "tenant_id", "end", blank=True, editable=False, primary_key=True, serialize=False
                            ),
                        ),
                        ("tenant_id", models.CharField(max_length=36)),
                        ("end", models.DateTimeField(db_column="before")),
                        ("entries", models.BigIntegerField()),
                    ],
                    options={"db_table": "audit_stretch"},
                ),
            ]
        )
    ]
