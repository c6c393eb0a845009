"""The branding of an application or an organization in the management API."""

from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string
from rest_framework import serializers


class OwnBrandingSerializer(serializers.Serializer[Any]):
    """The look of the pages during a sign-in to an application or an organization.

    An empty member is as in the application's branding, or else as in the tenant's.
    """

    def get_fields(self) -> dict[str, Any]:
        """Return the members of the tenant's branding, with the same rules."""
        fields: dict[str, Any] = import_string(f"{settings.BRANDING}.build_fields")()
        return fields
