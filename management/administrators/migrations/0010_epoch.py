from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0009_passkeys'),
    ]

    operations = [
        migrations.AddField(
            model_name='administrator',
            name='epoch',
            field=models.PositiveIntegerField(db_default=0, default=0, editable=False),
        ),
    ]
