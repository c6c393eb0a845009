"""Uploaded logos and icons."""

import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models

import database.ids
import identity.core.tenancy


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("experience", "0001_initial"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="StoredPicture",
            fields=[
                ("created_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("updated_at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "id",
                    models.UUIDField(
                        default=database.ids.new, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("digest", models.CharField(max_length=32)),
                ("content_type", models.CharField(max_length=32)),
                ("content", models.BinaryField()),
                (
                    "tenant",
                    models.ForeignKey(
                        db_index=False,
                        default=identity.core.tenancy.active_id,
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="tenants.tenant",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "digest"), name="stored_picture_once")
                ],
            },
        ),
    ]
