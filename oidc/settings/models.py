"""A tenant's settings of OpenID Connect."""

from typing import Any, Final
from uuid import UUID, uuid5

from django.db import models

from identity.core import tenancy
from identity.core.algorithms import Algorithm
from identity.core.models import EditableModel, TenantManager

_NAMESPACE: Final = UUID("3f0c1f0e-6a0d-4c53-9a0c-0b8f5f6f7a52")


def get_id() -> UUID:
    """Return the id of the active tenant's settings, which is known before they have a row."""
    return uuid5(_NAMESPACE, tenancy.active_id())


def default_documents() -> dict[str, Any]:
    """Return settings with which no client metadata document is read."""
    return {"enabled": False, "hosts": []}


def default_registration() -> dict[str, Any]:
    """Return settings with which nobody registers applications."""
    return {"mode": "off", "allowed_scopes": None, "redirect_hosts": None, "default_days": 30}


class OidcSettings(EditableModel):
    """Which optional parts of the protocol a tenant uses, and how long its sessions and tokens live.

    A tenant without a row has the defaults. The first change inserts the row.
    """

    class GroupsClaim(models.TextChoices):
        """What the claim ``groups`` lists."""

        ROLES = "roles"
        ORGANIZATIONS = "organizations"
        ORGANIZATION_ROLES = "organization_roles"

    id = models.UUIDField(primary_key=True, default=get_id, editable=False)
    default_signing_alg = models.CharField(max_length=16, default=Algorithm.ES256)
    groups_claim = models.CharField(max_length=32, choices=GroupsClaim, default=GroupsClaim.ROLES)
    # Other names of authentication levels, as a list of {value, level}.
    acr_aliases = models.JSONField(default=list)
    introspection = models.BooleanField(default=False)
    device_flow = models.BooleanField(default=False)
    token_exchange = models.BooleanField(default=False)
    impersonation = models.BooleanField(default=False)
    plain_oauth = models.BooleanField(default=False)
    client_id_metadata_documents = models.JSONField(default=default_documents)
    dynamic_registration = models.JSONField(default=default_registration)
    high_security = models.BooleanField(default=False)
    require_pushed_authorization_requests = models.BooleanField(default=False)
    # Seconds. Null: as the installation.
    session_idle_seconds = models.PositiveIntegerField(null=True)
    session_absolute_seconds = models.PositiveIntegerField(null=True)
    refresh_token_idle_seconds = models.PositiveIntegerField(null=True)
    refresh_token_absolute_seconds = models.PositiveIntegerField(null=True)
    keep_signed_in = models.BooleanField(default=False)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "OpenID Connect settings"
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="oidc_settings_one"),
        ]

    def __str__(self) -> str:
        return str(self.tenant_id)
