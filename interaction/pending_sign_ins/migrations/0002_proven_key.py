from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('pending_sign_ins', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='pendingsignin',
            name='proven_key',
            field=models.CharField(db_default='', default='', max_length=1024),
        ),
    ]
