from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("audit", "0010_named_id")]

    operations = [
        migrations.CreateModel(
            name="DayCount",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "tenant_id", "day", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("tenant_id", models.CharField(max_length=36)),
                ("day", models.DateField()),
                ("numbers", models.JSONField()),
                ("active_users", models.PositiveIntegerField()),
                ("is_cut", models.BooleanField()),
            ],
            options={"db_table": "audit_day"},
        ),
    ]
