from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("grants", "0010_step_up")]

    operations = [
        migrations.AddField("authorizationcode", "epoch", models.PositiveIntegerField(null=True)),
        migrations.AddField("authorizationcode", "auth_time", models.DateTimeField(null=True)),
        migrations.AddField("authorizationcode", "amr", models.JSONField(null=True)),
        migrations.AddField("authorizationcode", "level", models.PositiveSmallIntegerField(null=True)),
        migrations.AddField("authorizationcode", "remembered", models.BooleanField(null=True)),
    ]
