"""Changes of the schema that a next release may make while nodes of this release run.

And what it may not: a contract in the release of its expand, which must wait until all nodes are new.
"""

import re
from pathlib import Path

_HEAD = """
import django.db.models.deletion
from database.online_index import AddIndexOnline
from django.db import migrations, models
class Migration(migrations.Migration):
    dependencies = [("{app}", "{before}")]
"""
_STEPS = {
    "audit": [
        """
    kind = "expand"
    operations = [
        migrations.AddField("entry", "sample", models.CharField(max_length=8, null=True, db_default="none")),
    ]""",
        """
    kind, atomic = "expand", False
    operations = [
        AddIndexOnline(
            "entry",
            models.Index(fields=["tenant_id", "application_id", "-created_at"], name="sample_of_entries"),
        ),
    ]""",
    ],
    "identity/users": [
        """
    kind = "expand"
    operations = [
        migrations.AddField("user", "sample", models.IntegerField(db_default=7)),
        migrations.CreateModel("Sample", [
            ("id", models.BigAutoField(primary_key=True)),
            ("user", models.ForeignKey("users.user", on_delete=django.db.models.deletion.CASCADE)),
        ]),
    ]""",
        """
    kind, atomic = "expand", False
    operations = [
        AddIndexOnline("user", models.Index(fields=["tenant_id", "sample"], name="sample_of_users")),
    ]""",
        """
    kind, completes = "contract", [("users", "{before}")]
    operations = [migrations.DeleteModel("Sample")]""",
    ],
}


def added_to(code: Path) -> None:
    """Write migrations behind the last ones of the apps in a folder."""
    for place, bodies in _STEPS.items():
        folder, app = code / place / "migrations", place.rpartition("/")[2]
        for body in bodies:
            before = max(path.stem for path in folder.glob("[0-9]*.py"))
            name = f"{int(re.match(r'[0-9]+', before)[0]) + 1:04}_sample"  # type: ignore[index]
            (folder / f"{name}.py").write_text(
                _HEAD.format(app=app, before=before) + body.format(before=before)
            )
