from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("audit", "0002_retention")]

    # The triggers that keep it are created after every migrate: audit.triggers.
    operations = [
        migrations.CreateModel(
            name="Counted",
            fields=[
                ("tenant_id", models.CharField(max_length=36, primary_key=True, serialize=False)),
                ("before", models.DateTimeField()),
                ("entries", models.BigIntegerField()),
            ],
            options={"db_table": "audit_counted"},
        ),
    ]
