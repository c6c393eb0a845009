"""The signing key."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from identity.core.models import TenantManager, TenantModel


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    """Reads of signing keys."""

    def active(self) -> Self:
        """Return the one key that signs new tokens."""
        return self.filter(status=SigningKey.Status.ACTIVE)

    def next(self) -> Self:
        """Return the key that waits for its turn, where there is one."""
        return self.filter(status=SigningKey.Status.NEXT)

    def in_order(self) -> Self:
        """Return the active key, the next one, then the previous ones, newest first."""
        return self.order_by("status", "-created_at", "-pk")  # the words happen to be in order


class SigningKey(TenantModel):
    """An ECDSA P-256 key pair. Its id is the ``kid``; its private half is encrypted at rest.

    It is in the key set from the moment that it exists.
    """

    class Status(models.TextChoices):
        """One key signs; one may be known before it does; those before it still verify."""

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
        """What it signs with (RFC 7518 section 3.4)."""
        return "ES256"

    @property
    def published_at(self) -> datetime:
        """When it came into the key set."""
        return self.created_at
