from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("users", "0008_profile")]

    operations = [
        migrations.AddField(
            "user", "factors", models.PositiveSmallIntegerField(db_default=0, default=0, editable=False)
        ),
        migrations.AddField("user", "two_step", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("user", "factor_skipped_at", models.DateTimeField(editable=False, null=True)),
    ]
