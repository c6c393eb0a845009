"""The columns of a WebAuthn credential of a user or an administrator."""

from typing import Final

from django.db import models
from django.db.models import CheckConstraint, Q

MAX_CREDENTIAL_LENGTH: Final = 1_400
MAX_NAME: Final = 64
# COSE algorithms: EdDSA, ES256, RS256.
ALGORITHMS: Final = (-8, -7, -257)


class Credential(models.Model):
    """A public key, and what the device and the browser said about it."""

    # Base64url, and its SHA-256, because an index does not take long texts.
    credential_id = models.CharField(max_length=MAX_CREDENTIAL_LENGTH)
    credential_hash = models.CharField(max_length=64)
    public_key = models.BinaryField()
    algorithm = models.IntegerField()
    sign_count = models.BigIntegerField(default=0)
    aaguid = models.UUIDField(null=True)
    transports = models.JSONField(default=list)
    rp_id = models.CharField(max_length=253)
    # Null: the browser did not say.
    is_discoverable = models.BooleanField(null=True)
    verifies_user = models.BooleanField()
    backup_eligible = models.BooleanField(default=False)
    backed_up = models.BooleanField(default=False)
    attestation = models.TextField(blank=True)
    model = models.TextField(blank=True)
    name = models.CharField(max_length=MAX_NAME, blank=True)
    last_used_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name or str(self.pk)


def constraints(prefix: str) -> list[CheckConstraint]:
    """Return the constraints of each table of credentials. Their names begin with the prefix."""
    return [
        CheckConstraint(
            condition=Q(backed_up=False) | Q(backup_eligible=True), name=f"{prefix}_backup_is_eligible"
        ),
        CheckConstraint(condition=Q(algorithm__in=ALGORITHMS), name=f"{prefix}_algorithm"),
    ]
