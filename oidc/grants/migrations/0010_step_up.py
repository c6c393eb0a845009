from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('grants', '0009_level'),
    ]

    operations = [
        migrations.AddField(
            model_name='authorizationrequest',
            name='cancelled_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='authorizationrequest',
            name='wish_declined_at',
            field=models.DateTimeField(null=True),
        ),
    ]
