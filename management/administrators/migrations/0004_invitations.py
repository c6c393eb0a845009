import database.ids
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    kind = "expand"

    dependencies = [
        ('administrators', '0003_unique_username_key'),
        ('tenants', '0002_session_settings'),
    ]

    operations = [
        migrations.AddField(
            model_name='administrator',
            name='proven_email',
            field=models.CharField(editable=False, max_length=254, null=True),
        ),
        migrations.CreateModel(
            name='Invitation',
            fields=[
                ('created_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('updated_at', models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ('version', models.PositiveIntegerField(default=1, editable=False)),
                ('id', models.UUIDField(default=database.ids.new, editable=False, primary_key=True, serialize=False)),
                ('email', models.CharField(max_length=254)),
                ('email_key', models.CharField(editable=False, max_length=512)),
                ('is_superuser', models.BooleanField(default=False, verbose_name='manages every tenant')),
                ('role', models.CharField(choices=[('administrator', 'Administrator'), ('support', 'Support'), ('auditor', 'Auditor')], default='administrator', max_length=16)),
                ('token_hash', models.CharField(editable=False, max_length=64, unique=True)),
                ('is_mailed', models.BooleanField(default=False, editable=False, verbose_name='sent by mail')),
                ('expires_at', models.DateTimeField(verbose_name='expires')),
                ('invited_by', models.ForeignKey(db_constraint=False, on_delete=django.db.models.deletion.CASCADE, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('tenants', models.ManyToManyField(blank=True, db_constraint=False, related_name='+', to='tenants.tenant')),
            ],
            options={
                'indexes': [models.Index(fields=['expires_at'], name='invitation_expires_at')],
                'constraints': [models.UniqueConstraint(fields=('email_key',), name='invitation_email_key')],
            },
        ),
    ]
