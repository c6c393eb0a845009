import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
import oidc.settings.models
from database.cascades import CreateCascadingModel
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    kind = "expand"

    dependencies = [
        ('tenants', '0001_initial'),
    ]

    operations = [
        # A 0.1.3 node that deletes a tenant knows nothing of this table.
        CreateCascadingModel(
            name='OidcSettings',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('id', models.UUIDField(default=oidc.settings.models.get_id, editable=False, primary_key=True, serialize=False)),
                ('default_signing_alg', models.CharField(default='ES256', max_length=16)),
                ('groups_claim', models.CharField(choices=[('roles', 'Roles'), ('organizations', 'Organizations'), ('organization_roles', 'Organization Roles')], default='roles', max_length=32)),
                ('acr_aliases', models.JSONField(default=list)),
                ('introspection', models.BooleanField(default=False)),
                ('device_flow', models.BooleanField(default=False)),
                ('token_exchange', models.BooleanField(default=False)),
                ('impersonation', models.BooleanField(default=False)),
                ('plain_oauth', models.BooleanField(default=False)),
                ('client_id_metadata_documents', models.JSONField(default=oidc.settings.models.default_documents)),
                ('dynamic_registration', models.JSONField(default=oidc.settings.models.default_registration)),
                ('high_security', models.BooleanField(default=False)),
                ('require_pushed_authorization_requests', models.BooleanField(default=False)),
                ('session_idle_seconds', models.PositiveIntegerField(null=True)),
                ('session_absolute_seconds', models.PositiveIntegerField(null=True)),
                ('refresh_token_idle_seconds', models.PositiveIntegerField(null=True)),
                ('refresh_token_absolute_seconds', models.PositiveIntegerField(null=True)),
                ('keep_signed_in', models.BooleanField(default=False)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'verbose_name_plural': 'OpenID Connect settings',
                'constraints': [models.UniqueConstraint(fields=('tenant',), name='oidc_settings_one')],
            },
        ),
    ]
