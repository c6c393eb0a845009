from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('experience', '0006_forgot_password_requires_factor'),
    ]

    operations = [
        migrations.AddField(
            model_name='signinexperience',
            name='trusted_devices_since',
            field=models.DateTimeField(null=True),
        ),
    ]
