from django.db import migrations, models


class Migration(migrations.Migration):
    """Nodes of 0.2.0 insert consents without the column. Their page names all members of the profile."""

    kind = "expand"

    dependencies = [("grants", "0006_authorization_request_is_test")]

    operations = [
        migrations.AddField(
            model_name="consent",
            name="has_old_profile",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
