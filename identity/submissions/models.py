"""Answers of requests, content that a page shows for a short time, and used values."""

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


class UsedOnce(models.Model):
    """The hash of a value that can be used once, such as a challenge, until the value expires.

    ``tenant_id`` is a text, as in ``IdempotencyKey``.
    """

    id = models.UUIDField(primary_key=True, default=ids.new, editable=False)
    tenant_id = models.CharField(max_length=36, default=tenancy.active_id, editable=False)
    hash = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    objects: models.Manager["UsedOnce"] = TenantManager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant_id", "hash"], name="used_once_unique")]
        indexes = [models.Index(fields=["expires_at"], name="used_once_expiry")]

    def __str__(self) -> str:
        return str(self.id)
