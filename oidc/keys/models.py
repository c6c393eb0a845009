"""The signing key."""

from typing import Self

from django.db import models
from django.db.models import Q

from identity.core.models import TenantManager, TenantModel


class SigningKeyQuerySet(models.QuerySet["SigningKey"]):
    """Reads of signing keys."""

    def active(self) -> Self:
        """Return the one key that signs new tokens."""
        return self.filter(status=SigningKey.Status.ACTIVE)


class SigningKey(TenantModel):
    """An ECDSA P-256 key pair. Its id is the ``kid``; its private half is encrypted at rest."""

    class Status(models.TextChoices):
        """One key signs; those before it still verify."""

        ACTIVE = "active"
        PREVIOUS = "previous"

    status = models.CharField(max_length=8, choices=Status, default=Status.ACTIVE)
    public_jwk = models.JSONField()
    sealed_private_key = models.TextField()

    objects = TenantManager.from_queryset(SigningKeyQuerySet)()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant"], condition=Q(status="active"), name="signing_key_one_active"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk} ({self.status})"

    @property
    def algorithm(self) -> str:
        """What it signs with (RFC 7518 section 3.4)."""
        return "ES256"
