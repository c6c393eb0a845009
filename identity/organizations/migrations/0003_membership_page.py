from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("organizations", "0002_member_count")]

    # With the tenant beside its key it answers for the ids of a page alone: no row that is skipped is looked up.
    operations = [
        AddIndexOnline(
            model_name="membership",
            index=models.Index(
                fields=["organization", "-created_at", "-id"], include=["tenant"], name="membership_page"
            ),
        ),
    ]
