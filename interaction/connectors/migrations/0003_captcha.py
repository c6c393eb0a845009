"""A further type of connectors. The column takes any text of that length already."""

from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("connectors", "0002_connector_has_own_callback")]

    operations = [
        migrations.AlterField(
            model_name="connector",
            name="type",
            field=models.CharField(
                choices=[("Email", "Email"), ("Sms", "Sms"), ("Social", "Social"), ("Captcha", "Captcha")],
                max_length=8,
            ),
        ),
    ]
