from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("tenants", "0002_session_settings")]

    operations = [
        migrations.AddField(
            "tenant",
            "highest_level",
            models.PositiveSmallIntegerField(db_default=1, default=1, editable=False),
        ),
    ]
