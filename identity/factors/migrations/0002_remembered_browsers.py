import database.ids
import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
from django.db import migrations, models

from database.cascades import CreateCascadingModel


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('factors', '0001_initial'),
        ('tenants', '0003_highest_level'),
        ('users', '0011_former_emails'),
    ]

    operations = [
        migrations.AddField(
            model_name='knownbrowser',
            name='remembered_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='knownbrowser',
            name='remembered_epoch',
            field=models.PositiveIntegerField(null=True),
        ),
        CreateCascadingModel(
            name='SignInCountry',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('country', models.CharField(max_length=2)),
                ('last_seen_at', models.DateTimeField()),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['last_seen_at'], name='sign_in_country_over')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'user', 'country'), name='sign_in_country_unique')],
            },
        ),
    ]
