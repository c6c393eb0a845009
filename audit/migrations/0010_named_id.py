from django.db import migrations, models
from django.db.models.fields.json import KeyTransform

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("audit", "0009_shorter_retention")]

    operations = [
        AddIndexOnline(
            model_name="entry",
            index=models.Index(
                "tenant_id",
                KeyTransform("id", "payload"),
                models.F("created_at").desc(),
                models.F("id").desc(),
                name="audit_of_named_id",
                condition=models.Q(payload__has_key="id"),
            ),
        ),
    ]
