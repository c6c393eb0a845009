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

    # A node of an older release that deletes a user or a tenant knows nothing of these tables. The triggers that
    # keep User.factors are created after every migrate: identity.factors.triggers.
    operations = [
        CreateCascadingModel(
            name='Authenticator',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=64)),
                ('sealed_secret', models.TextField()),
                ('last_step', models.BigIntegerField(default=0)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='authenticators', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant'], name='authenticator_of_tenant')],
                'constraints': [models.CheckConstraint(condition=models.Q(('sealed_secret', ''), _negated=True), name='authenticator_has_a_secret')],
            },
        ),
        CreateCascadingModel(
            name='BackupCode',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=80)),
                ('used_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='backup_codes', to='users.user')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'digest'), name='backup_code_unique')],
            },
        ),
        CreateCascadingModel(
            name='KnownBrowser',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('token_hash', models.CharField(max_length=64)),
                ('label', models.CharField(blank=True, max_length=128)),
                ('ip', models.CharField(blank=True, max_length=64)),
                ('first_seen_at', models.DateTimeField()),
                ('last_seen_at', models.DateTimeField()),
                ('remembered_until', models.DateTimeField(null=True)),
                ('remembered_level', models.PositiveSmallIntegerField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='known_browsers', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['last_seen_at'], name='known_browser_over')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'user', 'token_hash'), name='known_browser_unique'), models.CheckConstraint(condition=models.Q(models.Q(('remembered_level', None), ('remembered_until', None)), models.Q(('remembered_level__isnull', False), ('remembered_until__isnull', False)), _connector='OR'), name='known_browser_remembered')],
            },
        ),
        CreateCascadingModel(
            name='Passkey',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('credential_id', models.CharField(max_length=1400)),
                ('credential_hash', models.CharField(max_length=64)),
                ('public_key', models.BinaryField()),
                ('algorithm', models.IntegerField()),
                ('sign_count', models.BigIntegerField(default=0)),
                ('aaguid', models.UUIDField(null=True)),
                ('transports', models.JSONField(default=list)),
                ('rp_id', models.CharField(max_length=253)),
                ('is_discoverable', models.BooleanField(null=True)),
                ('verifies_user', models.BooleanField()),
                ('backup_eligible', models.BooleanField(default=False)),
                ('backed_up', models.BooleanField(default=False)),
                ('attestation', models.TextField(blank=True)),
                ('model', models.TextField(blank=True)),
                ('name', models.CharField(blank=True, max_length=64)),
                ('last_used_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to='users.user')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'credential_hash'), name='passkey_credential_unique'), models.CheckConstraint(condition=models.Q(('backed_up', False), ('backup_eligible', True), _connector='OR'), name='passkey_backup_is_eligible'), models.CheckConstraint(condition=models.Q(('algorithm__in', (-8, -7, -257))), name='passkey_algorithm')],
            },
        ),
        CreateCascadingModel(
            name='RecoveryGrant',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('digest', models.CharField(max_length=80)),
                ('made_by', models.CharField(max_length=80)),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(null=True)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='recovery_grants', to='users.user')),
            ],
            options={
                'indexes': [models.Index(fields=['expires_at'], name='recovery_grant_over')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'digest'), name='recovery_grant_unique'), models.UniqueConstraint(condition=models.Q(('used_at', None)), fields=('tenant', 'user'), name='recovery_grant_one_live')],
            },
        ),
    ]
