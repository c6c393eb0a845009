import database.ids
import django.db.models.deletion
import django.utils.timezone
import identity.core.tenancy
from database.cascades import CreateCascadingModel
from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('keys', '0001_initial'),
        ('tenants', '0001_initial'),
    ]

    operations = [
        # A 0.1.2 node that deletes a key or a tenant knows nothing of this table.
        CreateCascadingModel(
            name='SigningKeyUsage',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('expires_at', models.DateTimeField()),
                ('key', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='keys.signingkey')),
                ('tenant', models.ForeignKey(db_index=False, default=identity.core.tenancy.active_id, editable=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to='tenants.tenant')),
            ],
            options={
                'verbose_name_plural': 'signing key usage',
                'indexes': [models.Index(fields=['expires_at'], name='signing_key_usage_expiry')],
                'constraints': [models.UniqueConstraint(fields=('tenant', 'key', 'expires_at'), name='signing_key_usage_unique')],
            },
        ),
    ]
