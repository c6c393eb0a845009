"""The places of the buttons on the sign-in page. Connectors without one keep their order, newest first."""

from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("connectors", "0003_captcha")]

    operations = [
        migrations.AddField(
            model_name="connector",
            name="position",
            field=models.PositiveSmallIntegerField(editable=False, null=True),
        ),
    ]
