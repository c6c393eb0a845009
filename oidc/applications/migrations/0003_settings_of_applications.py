import database.ids
import django.db.models.deletion
import identity.core.tenancy
from database.cascades import CreateCascadingModel
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('applications', '0002_require_pkce'),
        ('organizations', '0005_membership_rests_on_phone'),
        ('roles', '0001_initial'),
        ('tenants', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='application',
            name='client_uri',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='application',
            name='contacts',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name='application',
            name='custom_claims',
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name='application',
            name='default_max_age',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='application',
            name='effective_refresh_absolute_seconds',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='application',
            name='effective_refresh_idle_seconds',
            field=models.PositiveIntegerField(editable=False, null=True),
        ),
        migrations.AddField(
            model_name='application',
            name='id_token_signed_response_alg',
            field=models.CharField(blank=True, db_default='', default='', max_length=16),
        ),
        migrations.AddField(
            model_name='application',
            name='initiate_login_uri',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='application',
            name='is_restricted',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='application',
            name='logo_uri',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='application',
            name='policy_uri',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='application',
            name='refresh_token_absolute_seconds',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='application',
            name='refresh_token_idle_seconds',
            field=models.PositiveIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='application',
            name='tos_uri',
            field=models.CharField(blank=True, db_default='', default='', max_length=2048),
        ),
        migrations.AddField(
            model_name='application',
            name='userinfo_signed_response_alg',
            field=models.CharField(blank=True, db_default='', default='', max_length=16),
        ),
        # A 0.1.3 node that deletes a role, an organization or a tenant knows nothing of these tables.
        CreateCascadingModel(
            name='AllowedOrganization',
            fields=[
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowed_organizations', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('organization', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='organizations.organization')),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'application', 'organization'), name='allowed_organization_unique')],
            },
        ),
        CreateCascadingModel(
            name='AllowedRole',
            fields=[
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='allowed_roles', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('role', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='roles.role')),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'application', 'role'), name='allowed_role_unique')],
            },
        ),
    ]
