"""The brandings of applications and organizations, each of which replaces members of the tenant's.

``settings.BRANDING`` names this module: see ``identity.core.branding``.
"""

from collections.abc import Mapping
from typing import Any, Final

from interaction.experience import pictures
from interaction.experience.models import default_branding
from interaction.experience.serializers import BrandingSerializer

# A dark member belongs to its light one: the light and the dark theme must not show logos of two owners.
_LIGHT: Final = {"dark_logo_url": "logo_url", "dark_primary_color": "primary_color"}


def build_fields() -> dict[str, Any]:
    """Return the fields of a branding in the management API."""
    return BrandingSerializer().get_fields()


def describe(branding: Mapping[str, str]) -> dict[str, str]:
    """Return all members of a branding, with the full addresses of its pictures."""
    return default_branding() | pictures.add_addresses(branding)


def store(row: Any, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the branding of an application or organization with the members that were sent.

    Its pictures are stored, and those that it no longer uses are deleted. Empty members are left out.
    """
    merged = {name: value for name, value in {**row.branding, **sent}.items() if value}
    if not merged and not row.branding:
        return {}
    return pictures.store(merged, **{row._meta.model_name: row})


def overlay(branding: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Return a branding with the members that another one sets.

    With a light member, its dark one is replaced too, even if the other branding does not set it.
    """
    given = {name: value for name, value in own.items() if value}
    replaced = {dark: "" for dark, light in _LIGHT.items() if light in given}
    return {**branding, **replaced, **given}
