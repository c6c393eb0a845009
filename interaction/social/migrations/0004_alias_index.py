"""An index for the lookup of accounts by their second name."""

from django.db import migrations, models

from database.online_index import AddIndexOnline


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("social", "0003_alias")]

    operations = [
        AddIndexOnline(
            model_name="socialidentity",
            index=models.Index(
                condition=models.Q(("alias_fingerprint", ""), _negated=True),
                fields=["tenant", "alias_fingerprint"],
                name="social_identity_by_alias",
            ),
        ),
    ]
