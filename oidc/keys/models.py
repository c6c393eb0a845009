"""Signing keys, and when their tokens expire."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from identity.core.models import TenantManager, TenantModel


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    """Queries for signing keys."""

    def active(self) -> Self:
        """Return the one key that signs new tokens."""
        return self.filter(status=SigningKey.Status.ACTIVE)

    def next(self) -> Self:
        """Return the key that the next rotation activates, if there is one."""
        return self.filter(status=SigningKey.Status.NEXT)

    def in_order(self) -> Self:
        """Return the active key, the next one, then the previous ones, newest first."""
        return self.order_by("status", "-created_at", "-pk")  # by status: active, next, previous


class SigningKey(TenantModel):
    """An ECDSA P-256 key pair. Its id is the ``kid``; its private key is encrypted at rest.

    The key set contains it as soon as it exists.
    """

    class Status(models.TextChoices):
        """The active key signs, the next key is published in advance, previous keys only verify."""

        ACTIVE = "active"
        NEXT = "next"
        PREVIOUS = "previous"

    status = models.CharField(max_length=8, choices=Status, default=Status.NEXT)
    activated_at = models.DateTimeField(null=True, editable=False)
    retired_at = models.DateTimeField(null=True, editable=False)
    public_jwk = models.JSONField()
    sealed_private_key = models.TextField()

    objects = TenantManager.from_queryset(SigningKeyQuerySet)()

    class Meta:
        indexes = [models.Index(fields=["tenant"], name="signing_key_of_tenant")]
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"], condition=Q(status="active"), name="signing_key_one_active"
            ),
            models.UniqueConstraint(
                fields=["tenant"], condition=Q(status="next"), name="signing_key_one_next"
            ),
            models.CheckConstraint(
                condition=Q(status="next", activated_at=None, retired_at=None)
                | Q(status="active", activated_at__isnull=False, retired_at=None)
                | Q(status="previous", activated_at__isnull=False, retired_at__isnull=False),
                name="signing_key_dated",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk} ({self.status})"

    @property
    def algorithm(self) -> str:
        """The JWS algorithm (RFC 7518 section 3.4)."""
        return "ES256"

    @property
    def published_at(self) -> datetime:
        """When the key was added to the key set."""
        return self.created_at


class SigningKeyUsage(TenantModel):
    """A full hour until which tokens that the key signed expire. ``oidc.keys.usage`` writes and reads it.

    The database deletes the row with its key or tenant (see the migration), for nodes of 0.1.2. Django
    deletes it too, because a later migration that rebuilds the table on SQLite may lose the database's
    ON DELETE clauses.
    """

    key = models.ForeignKey(SigningKey, on_delete=models.CASCADE, related_name="+")
    expires_at = models.DateTimeField()

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "signing key usage"
        constraints = [
            models.UniqueConstraint(fields=["tenant", "key", "expires_at"], name="signing_key_usage_unique"),
        ]
        indexes = [models.Index(fields=["expires_at"], name="signing_key_usage_expiry")]

    def __str__(self) -> str:
        return f"{self.key_id} until {self.expires_at:%Y-%m-%d %H:%M}"
