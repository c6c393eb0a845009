"""Uploaded logos and icons of applications and organizations."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

import database.ids
import identity.core.tenancy
from database.cascades import CreateCascadingModel


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("applications", "0005_branding"),
        ("experience", "0002_stored_picture"),
        ("organizations", "0006_branding"),
        ("tenants", "0001_initial"),
    ]

    operations = [
        # A node of 0.2.0 that deletes an application, an organization or a tenant knows nothing of this table.
        CreateCascadingModel(
            name="OwnedPicture",
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
                    "application",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
                    ),
                ),
                (
                    "organization",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="organizations.organization",
                    ),
                ),
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
                    models.UniqueConstraint(fields=("tenant", "digest"), name="owned_picture_once")
                ],
            },
        ),
    ]
