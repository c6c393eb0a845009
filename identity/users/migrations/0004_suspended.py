from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("users", "0003_user_count")]

    operations = [
        AddIndexOnline(
            model_name="user",
            index=models.Index(
                condition=models.Q(("is_suspended", True)),
                fields=["tenant", "-created_at", "-id"],
                name="user_suspended",
            ),
        ),
    ]
