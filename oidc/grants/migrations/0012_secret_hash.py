from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ("grants", "0011_sign_in_of_codes"),
    ]

    operations = [
        migrations.AddField(
            model_name="authorizationrequest",
            name="secret_hash",
            field=models.CharField(max_length=64, null=True),
        ),
    ]
