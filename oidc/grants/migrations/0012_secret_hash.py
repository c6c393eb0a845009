from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("grants", "0010_step_up"),
    ]

    operations = [
        migrations.AddField(
            model_name="authorizationrequest",
            name="secret_hash",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
