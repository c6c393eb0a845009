from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("users", "0005_foreign_hashes")]

    operations = [
        migrations.AddField("user", "email_proven", models.BooleanField(editable=False, null=True)),
        migrations.AddField("user", "phone_proven", models.BooleanField(editable=False, null=True)),
    ]
