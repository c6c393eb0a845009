from django.db import migrations

PIECE = 1000
IDENTITY_SCOPES = {
    "openid",
    "profile",
    "email",
    "phone",
    "offline_access",
    "urn:service:scope:organizations",
    "urn:service:scope:organization_roles",
}


def _keep_identity_scopes(apps, schema_editor):
    """Remove the names of targets' scopes, which nodes of 0.1.0 read, from the consents. Can be repeated."""
    Consent = apps.get_model("grants", "Consent")
    last = None
    while True:
        rows = Consent.objects.order_by("pk") if last is None else Consent.objects.filter(pk__gt=last).order_by("pk")
        piece = list(rows.only("pk", "scopes")[:PIECE])
        if not piece:
            return
        last = piece[-1].pk
        for consent in piece:
            scopes = [name for name in consent.scopes if name in IDENTITY_SCOPES]
            if scopes != consent.scopes:
                # A consent that changed since it was read keeps its copies, which nothing reads.
                Consent.objects.filter(pk=consent.pk, scopes=consent.scopes).update(scopes=scopes)


class Migration(migrations.Migration):
    kind = "contract"
    completes = [("grants", "0002_consent_targets")]
    atomic = False

    dependencies = [("grants", "0003_consent_without_organizations")]

    operations = [migrations.RunPython(_keep_identity_scopes, migrations.RunPython.noop)]
