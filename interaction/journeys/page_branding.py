"""The look of a journey's pages: that of the organization, else of the application, else of the tenant."""

from typing import Final

from database import ids
from identity.core.tenant_statements import Select, uuid
from identity.organizations.models import Organization
from interaction.experience import branding, pictures
from interaction.experience.models import SignInExperience, default_branding
from interaction.journeys.pending import Pending

_organization: Final = Select(lambda: Organization.objects.filter(pk=uuid("pk")).only("branding")[:1])


def get_branding(experience: SignInExperience, pending: Pending | None) -> dict[str, str]:
    """Return the branding of a page, with the full addresses of its pictures.

    An organization's branding is public: before the sign-in, anyone who sends the organization's id sees it.
    """
    shown = default_branding() | experience.branding
    # Only the tenant's own applications: a page must not look as if a third party asked for the password.
    if pending and not pending.application.is_third_party:
        shown = branding.overlay(shown, pending.application.branding)
    if pending and (organization := _find_organization(pending.authorization.organization_id)):
        shown = branding.overlay(shown, organization.branding)
    return pictures.add_addresses(shown)


def _find_organization(text: str) -> Organization | None:
    organization_id = ids.parse(text) if text else None
    return _organization.first(pk=organization_id) if organization_id else None
