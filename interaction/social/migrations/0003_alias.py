"""A second name of an account, for providers that have two (WeChat)."""

from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("social", "0002_keep_signed_in")]

    operations = [
        migrations.AddField(
            model_name="socialidentity",
            name="alias_fingerprint",
            field=models.CharField(blank=True, db_default="", editable=False, max_length=64),
        ),
    ]
