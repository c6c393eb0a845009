"""Which callback a social connector uses: connectors that exist keep the shared one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("connectors", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="connector",
            name="has_own_callback",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AlterField(
            model_name="connector",
            name="has_own_callback",
            field=models.BooleanField(db_default=False, default=True),
        ),
    ]
