from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("organizations", "0004_membership_newest_first")]

    operations = [
        migrations.AddField(
            "membership", "rests_on_phone", models.BooleanField(default=False, db_default=False)
        ),
    ]
