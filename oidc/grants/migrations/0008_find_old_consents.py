from datetime import timedelta

from django.db import migrations
from django.db.migrations.recorder import MigrationRecorder

PIECE = 1000
# Nodes of 0.1.3 may serve for a while after the migration, and show their own consent page.
LONGEST_UPGRADE = timedelta(days=1)
# A new database gets both migrations in one run.
LONGEST_RUN = timedelta(hours=1)


def _mark_old_consents(apps, schema_editor):
    """Mark the consents to ``profile`` from before release 0.2.0, which added members to it. Can be repeated."""
    applied = dict(
        MigrationRecorder(schema_editor.connection)
        .migration_qs.filter(app="users", name__in=["0001_initial", "0008_profile"])
        .values_list("name", "applied")
    )
    if applied["0008_profile"] - applied["0001_initial"] < LONGEST_RUN:
        return
    until = applied["0008_profile"] + LONGEST_UPGRADE
    Consent = apps.get_model("grants", "Consent")
    old = Consent.objects.filter(created_at__lt=until, has_old_profile=False).order_by("pk")
    last = None
    while True:
        rows = old if last is None else old.filter(pk__gt=last)
        piece = list(rows.values_list("pk", "scopes")[:PIECE])
        if not piece:
            return
        last = piece[-1][0]
        marked = [pk for pk, scopes in piece if "profile" in scopes]
        Consent.objects.filter(pk__in=marked).update(has_old_profile=True)


class Migration(migrations.Migration):
    kind = "expand"
    atomic = False

    dependencies = [("grants", "0007_consent_to_old_profile"), ("users", "0008_profile")]

    operations = [migrations.RunPython(_mark_old_consents, migrations.RunPython.noop)]
