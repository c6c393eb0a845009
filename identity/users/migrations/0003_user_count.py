import django.db.models.deletion
import identity.core.tenancy
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("tenants", "0001_initial"), ("users", "0002_search_index")]

    # The triggers that keep it are created after every migrate: identity.users.row_counts.
    operations = [
        migrations.CreateModel(
            name="UserCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
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
                ("users", models.BigIntegerField()),
            ],
            options={"indexes": [models.Index(fields=["tenant"], name="user_count_of_tenant")]},
        ),
    ]
