from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('organizations', '0005_membership_rests_on_phone'),
    ]

    operations = [
        migrations.AddField(
            model_name='organization',
            name='branding',
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
