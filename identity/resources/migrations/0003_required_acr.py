from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('resources', '0002_claims_and_algorithm'),
    ]

    operations = [
        migrations.AddField(
            model_name='resource',
            name='required_acr',
            field=models.CharField(blank=True, db_default='', default='', max_length=256),
        ),
    ]
