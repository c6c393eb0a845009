from django.db import migrations, models
from django.db.models import Q

from database.new_checks import AddCheckOfNewColumns


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("identity_sessions", "0002_keep_signed_in")]

    operations = [
        migrations.AddField("session", "level", models.PositiveSmallIntegerField(db_default=1, default=1)),
        migrations.AddField("session", "second_factor_at", models.DateTimeField(null=True)),
        migrations.AddField("session", "remembered", models.BooleanField(db_default=False, default=False)),
        AddCheckOfNewColumns(
            "session",
            models.CheckConstraint(condition=Q(("level__range", (1, 4))), name="session_level"),
        ),
        AddCheckOfNewColumns(
            "session",
            models.CheckConstraint(
                condition=Q(("second_factor_at", None), ("level__gte", 2), _connector="OR"),
                name="session_second_factor_has_level",
            ),
        ),
        AddCheckOfNewColumns(
            "session",
            models.CheckConstraint(
                condition=Q(("remembered", False), ("level__lt", 2), _connector="OR"),
                name="session_remembered_has_no_level",
            ),
        ),
    ]
