from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("factors", "0002_remembered_browsers"),
    ]

    operations = [
        migrations.AddField(
            model_name="knownbrowser",
            name="remembered_since",
            field=models.DateTimeField(null=True),
        ),
    ]
