import database.ids
import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
from django.db import migrations, models

from database.cascades import CreateCascadingModel


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('tenants', '0003_highest_level'),
        ('users', '0010_users_with_factors'),
    ]

    operations = [
        CreateCascadingModel(
            name='FormerEmail',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('email', models.CharField(max_length=254)),
                ('email_key', models.CharField(max_length=1024)),
                ('replaced_at', models.DateTimeField()),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'user'], name='former_email_of_user'), models.Index(fields=['replaced_at'], name='former_email_over')],
            },
        ),
    ]
