from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('applications', '0004_further_secrets'),
    ]

    operations = [
        migrations.AddField(
            model_name='application',
            name='branding',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
