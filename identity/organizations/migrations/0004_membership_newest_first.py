from django.db import migrations


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("organizations", "0003_membership_page")]

    # The one before has the same key, and more.
    operations = [migrations.RemoveIndex("membership", "membership_newest_first")]
