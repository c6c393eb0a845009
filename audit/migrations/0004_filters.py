from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("audit", "0003_counted")]

    operations = [
        AddIndexOnline(
            model_name="entry",
            index=models.Index(fields=["tenant_id", "key", "-created_at", "-id"], name="audit_of_key"),
        ),
        AddIndexOnline(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("application_id__isnull", False)),
                fields=["tenant_id", "application_id", "-created_at", "-id", "key"],
                name="audit_of_application",
            ),
        ),
    ]
