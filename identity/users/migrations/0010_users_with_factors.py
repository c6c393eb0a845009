from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("users", "0009_factors")]

    operations = [
        AddIndexOnline(
            model_name="user",
            index=models.Index(
                condition=models.Q(("factors__gt", 0)),
                fields=["tenant", "-created_at", "-id"],
                name="user_with_factors",
            ),
        ),
    ]
