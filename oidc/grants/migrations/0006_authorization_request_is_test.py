from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("grants", "0005_drop_organizations_of_consents")]

    operations = [
        migrations.AddField(
            model_name="authorizationrequest",
            name="is_test",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
