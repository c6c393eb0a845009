import database.ids
import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
from database.cascades import CreateCascadingModel
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('applications', '0003_settings_of_applications'),
        ('tenants', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='application',
            name='has_further_secrets',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name='application',
            name='secret_created_at',
            field=models.DateTimeField(editable=False, null=True),
        ),
        # A 0.1.3 node that deletes an application or a tenant knows nothing of this table.
        CreateCascadingModel(
            name='ApplicationSecret',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(blank=True, max_length=256)),
                ('digest', models.CharField(editable=False, max_length=128)),
                ('expires_at', models.DateTimeField(null=True)),
                ('application', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.OAUTH2_PROVIDER_APPLICATION_MODEL)),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['tenant', 'application'], name='secret_of_application'), models.Index(condition=models.Q(('expires_at', None), _negated=True), fields=['expires_at'], name='application_secret_expiry')],
            },
        ),
    ]
