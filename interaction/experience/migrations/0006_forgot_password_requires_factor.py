from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("experience", "0005_factors")]

    operations = [
        migrations.AddField(
            "signinexperience",
            "forgot_password_requires_factor",
            models.BooleanField(db_default=True, default=True),
        ),
    ]
