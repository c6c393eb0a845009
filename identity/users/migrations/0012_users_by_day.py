import django.db.models.deletion
import identity.core.tenancy
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("tenants", "0003_highest_level"),
        ("users", "0011_former_emails"),
    ]

    # The triggers that keep it are created after every migrate: identity.users.row_counts.
    operations = [
        migrations.CreateModel(
            name="UserDayCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField()),
                ("users", models.BigIntegerField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        default=identity.core.tenancy.active_id,
                        editable=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "day"], name="user_count_of_day")],
            },
        ),
    ]
