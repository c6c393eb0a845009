import database.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0008_language'),
    ]

    operations = [
        migrations.CreateModel(
            name='AdministratorPasskey',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
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
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('user_handle', models.CharField(max_length=43)),
                ('administrator', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='passkeys', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('credential_hash',), name='administrator_passkey_credential'), models.CheckConstraint(condition=models.Q(('backed_up', False), ('backup_eligible', True), _connector='OR'), name='administrator_passkey_backup_is_eligible'), models.CheckConstraint(condition=models.Q(('algorithm__in', (-8, -7, -257))), name='administrator_passkey_algorithm')],
            },
        ),
    ]
