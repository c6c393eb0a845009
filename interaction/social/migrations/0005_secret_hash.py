from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("social", "0004_alias_index"),
    ]

    operations = [
        migrations.AddField(
            model_name="socialattempt",
            name="secret_hash",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
