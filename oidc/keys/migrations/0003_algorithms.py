from django.db import migrations, models


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [
        ('keys', '0002_signing_key_usage'),
        ('tenants', '0001_initial'),
    ]

    operations = [
        # Nodes of 0.1.3 lock the tenant before they change its keys, so they keep what these promise without
        # them. Their keys are ES256, so the new constraints refuse nothing that the old ones allowed.
        migrations.RemoveConstraint(
            model_name='signingkey',
            name='signing_key_one_active',
        ),
        migrations.RemoveConstraint(
            model_name='signingkey',
            name='signing_key_one_next',
        ),
        migrations.AddField(
            model_name='signingkey',
            name='algorithm',
            field=models.CharField(db_default='ES256', default='ES256', editable=False, max_length=16),
        ),
        migrations.AddField(
            model_name='signingkey',
            name='is_default',
            field=models.BooleanField(db_default=True, default=True, editable=False),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'active')), fields=('tenant', 'algorithm'), name='signing_key_active_unique'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.UniqueConstraint(condition=models.Q(('status', 'next')), fields=('tenant', 'algorithm'), name='signing_key_next_unique'),
        ),
        migrations.AddConstraint(
            model_name='signingkey',
            constraint=models.UniqueConstraint(condition=models.Q(('is_default', True), ('status', 'active')), fields=('tenant',), name='signing_key_one_default'),
        ),
    ]
