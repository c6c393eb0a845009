"""The answers of requests with an idempotency key, and content that a page shows for a short time."""

from django.db import models

from database import ids
from identity.core import tenancy
from identity.core.models import TenantManager


class IdempotencyKey(models.Model):
    """A request that was done, with its encrypted answer. Only a hash of the key is stored.

    ``tenant_id`` is a text, as in the audit log, because this app is below that of tenants.
    """

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant_id = models.CharField(max_length=36, default=tenancy.active_id, editable=False)
    caller = models.CharField(max_length=80)
    key_hash = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=80)
    sealed_answer = models.TextField()
    expires_at = models.DateTimeField()

    objects: models.Manager["IdempotencyKey"] = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant_id", "caller", "key_hash"], name="idempotency_key_unique")
        ]
        indexes = [models.Index(fields=["expires_at"], name="idempotency_key_expiry")]

    def __str__(self) -> str:
        return str(self.id)


class ShownOnce(models.Model):
    """Encrypted content that one page shows to one session of one administrator until it expires."""

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    administrator = models.CharField(max_length=40)
    session_hash = models.CharField(max_length=64)
    page = models.CharField(max_length=400)
    sealed_content = models.TextField()
    expires_at = models.DateTimeField()

    objects: models.Manager["ShownOnce"] = models.Manager()

    class Meta:
        indexes = [models.Index(fields=["expires_at"], name="shown_once_expiry")]

    def __str__(self) -> str:
        return str(self.id)
