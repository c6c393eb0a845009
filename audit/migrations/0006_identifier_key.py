from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("audit", "0005_stretch")]

    operations = [
        migrations.AddField("entry", "identifier_key", models.CharField(max_length=80, null=True)),
    ]
