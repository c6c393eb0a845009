import unicodedata

from django.db import migrations, models


def fill(apps, schema_editor):
    """Give each administrator the key of the username; of those that look alike, the first."""
    administrators = apps.get_model("administrators", "Administrator").objects
    taken = set(administrators.exclude(username_key=None).values_list("username_key", flat=True))
    for pk, username in administrators.filter(username_key=None).order_by("pk").values_list("pk", "username"):
        key = unicodedata.normalize("NFKC", username).casefold()
        if key not in taken:
            taken.add(key)
            administrators.filter(pk=pk).update(username_key=key)


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("administrators", "0001_initial")]

    operations = [
        migrations.AddField(
            "administrator",
            "username_key",
            models.CharField(editable=False, max_length=512, null=True),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
