from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("verification", "0003_second_factor"),
    ]

    operations = [
        migrations.AddField(
            model_name="verificationcode",
            name="secret_hash",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
