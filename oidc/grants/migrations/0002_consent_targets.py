import django.db.models.deletion
import django.utils.timezone
import identity.core.ids
import identity.core.tenancy
from database.cascades import CreateCascadingModel
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('grants', '0001_initial'),
        ('organizations', '0004_membership_newest_first'),
        ('resources', '0001_initial'),
        ('tenants', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='authorizationcode',
            name='consent_id',
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name='authorizationrequest',
            name='shown',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='refreshfamily',
            name='consent_id',
            field=models.UUIDField(null=True),
        ),
        # A 0.1.0 node that deletes a consent, an API, an organization or a tenant knows nothing of this table.
        CreateCascadingModel(
            name='ConsentTarget',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=identity.core.ids.new, editable=False, primary_key=True, serialize=False)),
                ('scopes', models.JSONField(default=list)),
                ('consent', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='targets', to='grants.consent')),
                ('organization', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='organizations.organization')),
                ('resource', models.ForeignKey(null=True, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='resources.resource')),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('tenant', 'consent', 'resource'), name='consent_target_resource_unique'), models.UniqueConstraint(fields=('tenant', 'consent', 'organization'), name='consent_target_organization_unique'), models.CheckConstraint(condition=models.Q(models.Q(('organization__isnull', False), ('resource', None)), models.Q(('organization', None), ('resource__isnull', False)), _connector='OR'), name='consent_target_is_one_thing')],
            },
        ),
    ]
