from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("audit", "0006_identifier_key")]

    operations = [
        AddIndexOnline(
            model_name="entry",
            index=models.Index(
                condition=models.Q(("identifier_key__isnull", False)),
                fields=["tenant_id", "identifier_key", "-created_at", "-id"],
                name="audit_of_identifier",
            ),
        ),
    ]
