from django.db import migrations, models

import identity.factors.policy

_NO_MEMBERS = models.Value({}, models.JSONField())


class Migration(migrations.Migration):
    kind = "expand"

    dependencies = [("experience", "0004_page_texts")]

    operations = [
        migrations.AddField(
            "signinexperience",
            "mfa",
            models.JSONField(db_default=_NO_MEMBERS, default=identity.factors.policy.default_mfa),
        ),
        migrations.AddField(
            "signinexperience", "passkey_sign_in", models.JSONField(db_default=_NO_MEMBERS, default=dict)
        ),
        migrations.AddField(
            "signinexperience", "trusted_device_policy", models.JSONField(db_default=_NO_MEMBERS, default=dict)
        ),
        migrations.AddField(
            "signinexperience", "adaptive_mfa", models.JSONField(db_default=_NO_MEMBERS, default=dict)
        ),
        migrations.AddField(
            "signinexperience", "attestation", models.JSONField(db_default=_NO_MEMBERS, default=dict)
        ),
    ]
