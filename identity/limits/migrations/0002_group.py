from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("limits", "0001_initial")]

    operations = [
        migrations.AddField("counter", "group_hash", models.CharField(max_length=80, null=True)),
    ]
