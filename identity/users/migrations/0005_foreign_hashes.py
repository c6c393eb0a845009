from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("users", "0004_suspended")]

    operations = [
        AddIndexOnline(
            model_name="user",
            index=models.Index(
                condition=models.Q(
                    models.Q(("password", ""), _negated=True),
                    models.Q(
                        ("password__startswith", "argon2$argon2id$v=19$m=19456,t=2,p=1$"), _negated=True
                    ),
                ),
                fields=["tenant", "password"],
                name="user_foreign_hash",
            ),
        ),
    ]
