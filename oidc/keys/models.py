"""Signing keys, and when their tokens expire."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from identity.core.algorithms import Algorithm
from identity.core.models import TenantManager, TenantModel


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    """Queries for signing keys."""

    def active(self) -> Self:
        """Return the keys that sign new tokens, one for each algorithm."""
        return self.filter(status=SigningKey.Status.ACTIVE)

    def default(self) -> Self:
        """Return the one active key that signs unless an application or API resource names an algorithm."""
        return self.active().filter(is_default=True)

    def next(self) -> Self:
        """Return the keys that the next rotations activate, at most one for each algorithm."""
        return self.filter(status=SigningKey.Status.NEXT)

    def in_order(self) -> Self:
        """Return the active keys, the next ones, then the previous ones, newest first."""
        return self.order_by("status", "-created_at", "-pk")  # by status: active, next, previous


class SigningKey(TenantModel):
    """A key pair. Its id is the ``kid``; its private key is encrypted at rest.

    The key set contains it as soon as it exists. It is used with one algorithm only (RFC 8725 section 3.1).
    """

    class Status(models.TextChoices):
        """The active key signs, the next key is published in advance, previous keys only verify."""

        ACTIVE = "active"
        NEXT = "next"
        PREVIOUS = "previous"

    algorithm = models.CharField(
        max_length=16, default=Algorithm.ES256, db_default=Algorithm.ES256, editable=False
    )
    # Counts only while the key is active. Nodes of 0.1.3, which serve while all keys are ES256, write keys
    # without it and activate them, so it is true until another algorithm exists.
    is_default = models.BooleanField(default=True, db_default=True, editable=False)
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
                fields=["tenant", "algorithm"], condition=Q(status="active"), name="signing_key_active_unique"
            ),
            models.UniqueConstraint(
                fields=["tenant", "algorithm"], condition=Q(status="next"), name="signing_key_next_unique"
            ),
            models.UniqueConstraint(
                fields=["tenant"],
                condition=Q(status="active", is_default=True),
                name="signing_key_one_default",
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
