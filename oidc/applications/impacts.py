"""What applications lose with roles and organizations: see ``identity.core.impacts``."""

from typing import Final

from django.utils.translation import ngettext_lazy

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
        "roles.Role",
        Verb.DETACH,
        "applications",
        lambda role: ApplicationRole.objects.filter(role=role),
        ngettext_lazy(
            "%(number)s application loses the role", "%(number)s applications lose the role", "count"
        ),
    ),
    Loss(
        "roles.Role",
        Verb.DETACH,
        "allowed_applications",
        lambda role: AllowedRole.objects.filter(role=role),
        ngettext_lazy(
            "%(number)s application no longer lets in the users of the role",
            "%(number)s applications no longer let in the users of the role",
            "count",
        ),
    ),
    Loss(
        "organizations.Organization",
        Verb.DELETE,
        "organization_applications",
        lambda organization: OrganizationApplication.objects.filter(organization=organization),
        ngettext_lazy(
            "%(number)s application leaves the organization",
            "%(number)s applications leave the organization",
            "count",
        ),
    ),
    Loss(
        "organizations.Organization",
        Verb.DETACH,
        "allowed_applications",
        lambda organization: AllowedOrganization.objects.filter(organization=organization),
        ngettext_lazy(
            "%(number)s application no longer lets in the members",
            "%(number)s applications no longer let in the members",
            "count",
        ),
    ),
    Loss(
        "organizations.OrganizationRole",
        Verb.DETACH,
        "organization_applications",
        lambda role: OrganizationApplicationRole.objects.filter(role=role),
        ngettext_lazy(
            "%(number)s application loses the role", "%(number)s applications lose the role", "count"
        ),
    ),
    Loss(
        Application._meta.label,
        Verb.DELETE,
        "organization_applications",
        lambda application: OrganizationApplication.objects.filter(application=application),
        ngettext_lazy(
            "%(number)s organization loses the application",
            "%(number)s organizations lose the application",
            "count",
        ),
    ),
]
