from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0005_provider_accounts'),
    ]

    operations = [
        migrations.AddField(
            model_name='administrator',
            name='time_zone',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=64),
        ),
    ]
