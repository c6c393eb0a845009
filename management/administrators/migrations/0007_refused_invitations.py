from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0006_time_zone'),
    ]

    operations = [
        migrations.AddField(
            model_name='invitation',
            name='is_refused',
            field=models.BooleanField(db_default=False, default=False, editable=False, verbose_name='refused by the mail server'),
        ),
    ]
