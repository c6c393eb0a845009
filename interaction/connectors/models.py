"""Connectors: one configured instance of a provider."""

from typing import Any

from django.db import models

from identity.core.models import EditableModel, TenantManager
from interaction.connectors import sealing


class Connector(EditableModel):
    """A provider with the configuration it needs, encrypted at rest.

    ``connector_id`` names the provider. One that names none of ours is kept and managed
    like any other, and does nothing.
    """

    class Type(models.TextChoices):
        """What a provider is for."""

        EMAIL = "Email"
        SMS = "Sms"
        SOCIAL = "Social"
        CAPTCHA = "Captcha"

    connector_id = models.CharField(max_length=256)
    type = models.CharField(max_length=8, choices=Type)
    enabled = models.BooleanField(default=False)
    sealed_config = models.TextField()
    # Rows that release 0.1.0 inserts say nothing of it: they share one callback.
    has_own_callback = models.BooleanField(default=True, db_default=False)

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="connector_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.connector_id} ({self.type})"

    def config(self) -> dict[str, Any]:
        """Return the configuration with its secrets."""
        return sealing.unseal(self.sealed_config, tenant_id=str(self.tenant_id), pk=self.pk)
