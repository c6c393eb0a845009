"""API resources and their scopes."""

from typing import Final

from django.db import models

from identity.core.models import EditableModel, TenantManager

MAX_TTL: Final = 30 * 24 * 3600  # seconds
_EMPTY_LIST: Final = models.Value([], models.JSONField())


class Resource(EditableModel):
    """An API. Its indicator (RFC 8707) is the audience of its access tokens."""

    name = models.CharField(max_length=256)
    indicator = models.CharField(max_length=2048)
    access_token_ttl = models.PositiveIntegerField(default=3600)
    is_default = models.BooleanField(default=False)
    is_protected = models.BooleanField(default=False, editable=False)
    # The algorithm (RFC 7518) of its access tokens. Without one, the tenant's default algorithm.
    access_token_signing_alg = models.CharField(max_length=16, blank=True, default="", db_default="")
    # Which of the claims ``roles`` and ``groups`` its access tokens have, and claims that administrators
    # declared.
    claims = models.JSONField(default=list, db_default=_EMPTY_LIST)
    custom_claims = models.JSONField(default=list, db_default=_EMPTY_LIST)
    # The value of ``acr`` that users need for its access tokens. Empty: none.
    required_acr = models.CharField(max_length=256, blank=True, default="", db_default="")

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "indicator"], name="resource_indicator_unique"),
        ]
        indexes = [models.Index(fields=["tenant", "-created_at", "-id"], name="resource_newest_first")]

    def __str__(self) -> str:
        return self.name


class Scope(EditableModel):
    """A permission for a resource."""

    resource = models.ForeignKey(Resource, on_delete=models.CASCADE, related_name="scopes")
    name = models.CharField(max_length=256)
    description = models.TextField(blank=True)
    is_protected = models.BooleanField(default=False, editable=False)

    objects = TenantManager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "resource", "name"], name="scope_name_unique"),
        ]
        indexes = [models.Index(fields=["tenant", "name"], name="scope_by_name")]

    def __str__(self) -> str:
        return self.name
