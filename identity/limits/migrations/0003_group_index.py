from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("limits", "0002_group"), ("tenants", "0001_initial")]

    operations = [
        AddIndexOnline(
            model_name="counter",
            index=models.Index(
                condition=models.Q(("group_hash__isnull", False)),
                fields=["tenant", "group_hash"],
                name="counter_of_group",
            ),
        ),
    ]
