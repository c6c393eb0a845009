from django.db import migrations, models
from django.db.models import Q

from database.new_checks import AddCheckOfNewColumns


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("grants", "0008_find_old_consents")]

    operations = [
        migrations.AddField(
            "authorizationcode", "acr", models.TextField(blank=True, db_default="", default="")
        ),
        migrations.AddField("refreshfamily", "level", models.PositiveSmallIntegerField(db_default=1, default=1)),
        migrations.AddField("refreshfamily", "remembered", models.BooleanField(db_default=False, default=False)),
        migrations.AddField("refreshfamily", "acr", models.TextField(blank=True, db_default="", default="")),
        AddCheckOfNewColumns(
            "refreshfamily",
            models.CheckConstraint(
                condition=Q(("remembered", False), ("level__lt", 2), _connector="OR"),
                name="refresh_family_remembered_has_no_level",
            ),
        ),
    ]
