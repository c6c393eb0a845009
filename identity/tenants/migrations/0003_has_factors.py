from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("tenants", "0002_session_settings")]

    operations = [
        migrations.AddField(
            "tenant", "has_factors", models.BooleanField(db_default=False, default=False, editable=False)
        ),
    ]
