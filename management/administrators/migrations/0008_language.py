from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0007_refused_invitations'),
    ]

    operations = [
        migrations.AddField(
            model_name='administrator',
            name='language',
            field=models.CharField(blank=True, db_default='', default='', editable=False, max_length=16),
        ),
    ]
