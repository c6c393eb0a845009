"""What applications lose with roles and organizations: see ``identity.core.impacts``."""

from typing import Final

from identity.core.impacts import Loss, Verb
from oidc.applications.models import (
    AllowedOrganization,
    AllowedRole,
    Application,
    ApplicationRole,
    OrganizationApplication,
    OrganizationApplicationRole,
)

LOSSES: Final = [
    Loss(
        "roles.Role", Verb.DETACH, "applications", lambda role: ApplicationRole.objects.filter(role=role),
        "application loses the role", "applications lose the role",
    ),
    Loss(
        "roles.Role", Verb.DETACH, "allowed_applications",
        lambda role: AllowedRole.objects.filter(role=role),
        "application no longer lets in the users of the role",
        "applications no longer let in the users of the role",
    ),
    Loss(
        "organizations.Organization", Verb.DELETE, "organization_applications",
        lambda organization: OrganizationApplication.objects.filter(organization=organization),
        "application leaves the organization", "applications leave the organization",
    ),
    Loss(
        "organizations.Organization", Verb.DETACH, "allowed_applications",
        lambda organization: AllowedOrganization.objects.filter(organization=organization),
        "application no longer lets in the members", "applications no longer let in the members",
    ),
    Loss(
        "organizations.OrganizationRole", Verb.DETACH, "organization_applications",
        lambda role: OrganizationApplicationRole.objects.filter(role=role),
        "application loses the role", "applications lose the role",
    ),
    Loss(
        Application._meta.label, Verb.DELETE, "organization_applications",
        lambda application: OrganizationApplication.objects.filter(application=application),
        "organization loses the application", "organizations lose the application",
    ),
]  # fmt: skip
