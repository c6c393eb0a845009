"""Connectors: configured providers of a tenant."""

from typing import Any

from django.db import models

from identity.core.models import EditableModel, TenantManager
from interaction.connectors import config_encryption


class Connector(EditableModel):
    """A provider and its encrypted configuration.

    ``connector_id`` names the provider. A connector whose provider is not built in can be managed like any
    other connector, but has no effect.
    """

    class Type(models.TextChoices):
        """The kind of service that a provider offers."""

        EMAIL = "Email"
        SMS = "Sms"
        SOCIAL = "Social"
        CAPTCHA = "Captcha"

    connector_id = models.CharField(max_length=256)
    type = models.CharField(max_length=8, choices=Type)
    enabled = models.BooleanField(default=False)
    sealed_config = models.TextField()
    # Release 0.1.0 inserts rows without this column. The connectors of that release share one callback.
    has_own_callback = models.BooleanField(default=True, db_default=False)
    # The place of the button on the sign-in page; null for the connectors after those that were arranged.
    position = models.PositiveSmallIntegerField(null=True, editable=False)

    objects = TenantManager()

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-created_at", "-id"], name="connector_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.get_type_display()} connector {self.connector_id}"

    def config(self) -> dict[str, Any]:
        """Return the configuration with its secrets."""
        return config_encryption.decrypt(self.sealed_config, tenant_id=str(self.tenant_id), pk=self.pk)
