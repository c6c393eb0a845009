from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('social', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='socialattempt',
            name='keep_signed_in',
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
