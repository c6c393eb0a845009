import database.ids
import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
from django.db import migrations, models

from database.cascades import CreateCascadingModel


class Migration(migrations.Migration):

    initial = True
    kind = "expand"

    dependencies = [
        ('tenants', '0002_session_settings'),
        ('users', '0010_users_with_factors'),
    ]

    operations = [
        CreateCascadingModel(
            name='PendingSignIn',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('browser', models.CharField(max_length=64)),
                ('request_id', models.UUIDField(null=True)),
                ('epoch', models.PositiveIntegerField()),
                ('factors_seen', models.PositiveSmallIntegerField()),
                ('way', models.CharField(max_length=16)),
                ('amr', models.JSONField(default=list)),
                ('level', models.PositiveSmallIntegerField()),
                ('auth_time', models.DateTimeField()),
                ('channels', models.JSONField(default=list)),
                ('reasons', models.JSONField(default=list)),
                ('must_enrol', models.BooleanField(default=False)),
                ('keep_signed_in', models.BooleanField(default=False)),
                ('social_id', models.UUIDField(null=True)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('expires_at', models.DateTimeField()),
                ('done_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'browser', '-created_at'], name='pending_sign_in_of_browser'), models.Index(fields=['expires_at'], name='pending_sign_in_over')],
                'constraints': [models.CheckConstraint(condition=models.Q(('level__range', (1, 3))), name='pending_sign_in_level')],
            },
        ),
    ]
