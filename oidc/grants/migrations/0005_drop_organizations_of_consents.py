from django.db import migrations, models


class Migration(migrations.Migration):
    """Drop the column, which is no longer in the state of the model. No node of 0.1.3 uses it."""

    kind = "contract"
    completes = [("grants", "0003_consent_without_organizations")]

    dependencies = [("grants", "0004_identity_scopes_of_consents")]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AddField(
                    "consent",
                    "organizations",
                    models.JSONField(default=list, db_default=models.Value([], models.JSONField())),
                )
            ]
        ),
        migrations.RemoveField("consent", "organizations"),
    ]
