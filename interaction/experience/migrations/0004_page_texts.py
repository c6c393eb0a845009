"""Texts of a tenant's own on its pages."""

from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("experience", "0003_owned_picture")]

    operations = [
        migrations.AddField(
            model_name="signinexperience",
            name="page_texts",
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
    ]
