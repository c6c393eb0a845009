from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("pending_sign_ins", "0002_proven_key"),
    ]

    operations = [
        migrations.AddField(
            model_name="pendingsignin",
            name="secret_hash",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
