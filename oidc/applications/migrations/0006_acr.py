from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('applications', '0005_branding'),
    ]

    operations = [
        migrations.AddField(
            model_name='application',
            name='default_acr_values',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name='application',
            name='required_acr',
            field=models.TextField(blank=True, db_default='', default=''),
        ),
    ]
