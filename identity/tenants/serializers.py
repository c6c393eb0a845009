"""Serializers of tenants."""

from typing import Any, Final

from django.utils.translation import gettext_noop
from rest_framework import serializers

from audit.models import MIN_DAYS
from identity.rest.fields import Line, Name, WholeNumber
from identity.rest.serializers import Record
from identity.tenants.models import SLUG, Tenant
from identity.tenants.services import check_slug

_MAX_RETENTION_DAYS: Final = 36_500


class Slug(Line):
    """Lower-case letters, digits and dashes."""

    pattern = f"^{SLUG.pattern}$"

    def to_internal_value(self, data: Any) -> str:
        """Return a valid slug."""
        slug = super().to_internal_value(data)
        if not SLUG.fullmatch(slug):
            raise serializers.ValidationError(
                gettext_noop("must be 1 to 63 lower-case letters, digits or dashes")
            )
        return slug


class TenantSerializer(Record):
    """A tenant."""

    id = serializers.CharField(read_only=True)  # type: ignore[assignment]
    slug = Slug(max_length=63)
    name = Name()
    audit_retention_days = WholeNumber(
        required=False, allow_null=True, min_value=MIN_DAYS, max_value=_MAX_RETENTION_DAYS
    )

    create_only = ("slug",)
    rules = {"slug": check_slug}
    unique = {"slug": lambda slug: Tenant.objects.filter(slug=slug)}
