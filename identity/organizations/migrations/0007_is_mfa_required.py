from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('organizations', '0006_branding'),
    ]

    operations = [
        migrations.AddField(
            model_name='organization',
            name='is_mfa_required',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
