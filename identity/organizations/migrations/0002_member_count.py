import django.db.models.deletion
import identity.core.tenancy
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("tenants", "0001_initial"), ("organizations", "0001_initial")]

    # The triggers that keep it are created after every migrate: identity.organizations.row_counts.
    operations = [
        migrations.CreateModel(
            name="MemberCount",
            fields=[
                (
                    "id",
                    models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID"),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="organizations.organization",
                    ),
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
                ("members", models.BigIntegerField()),
            ],
            options={
                "indexes": [models.Index(fields=["tenant", "organization"], name="member_count_of_organization")]
            },
        ),
    ]
