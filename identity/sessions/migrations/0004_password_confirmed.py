from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("identity_sessions", "0003_level")]

    operations = [
        migrations.AddField("session", "password_confirmed_at", models.DateTimeField(null=True)),
    ]
