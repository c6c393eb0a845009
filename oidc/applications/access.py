"""Who may use an application: all users, or only those with an allowed role or organization.

``is_restricted`` says that an application has lists. It stays true if the rows of the lists are lost. Then
nobody may use the application, until an administrator changes the lists (see ``allowed_lists``).

Changes of lists, and deletions of roles and organizations, lock the tenant. So two of them never run at once,
and together cannot empty the lists of an application.
"""

from typing import Any, Final

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_noop

from database.batching import Work
from identity.core.errors import ServiceError
from identity.core.refusal_texts import fill
from identity.core.tenant_statements import SelectValues, uuid
from identity.organizations.models import Membership, Organization
from identity.roles.models import Role, UserRole
from identity.tenants import services as tenants
from identity.users.models import User
from oidc.applications.models import AllowedOrganization, AllowedRole, Application

_MAX_NAMED: Final = 20


class LeavesNobody(ServiceError):
    """After the deletion, nobody could use these applications."""

    reason = "last_allowed"

    def __init__(self, applications: list[Application]) -> None:
        names = [f"{row.name} ({row.pk})" for row in applications[:_MAX_NAMED]]
        message = gettext_noop(
            "applications: nobody could use %(names)s; first change who may use these applications"
        )
        if (more := len(applications) - _MAX_NAMED) > 0:
            message = gettext_noop(
                "applications: nobody could use %(names)s and %(count)s more; "
                "first change who may use these applications"
            )
        super().__init__(fill(message, names=names, count=more))


def may_use(user: User, application: Application) -> Work[bool]:
    """Return whether a user may use an application. Only a restricted one costs a query."""
    if not application.is_restricted:
        return True
    return bool((yield from _ALLOWED_USER.find_all(user_id=user.pk, application_id=application.pk)))


def _build_query() -> QuerySet[Any, Any]:
    """Return the query that finds the user if an allowed role or organization is the user's."""
    user_id, application_id = uuid("user_id"), uuid("application_id")
    roles = AllowedRole.objects.filter(application=application_id).values("role_id")
    organizations = AllowedOrganization.objects.filter(application=application_id).values("organization_id")
    has_role = Exists(UserRole.objects.filter(user=user_id, role__in=roles))
    is_member = Exists(Membership.objects.filter(user=user_id, organization__in=organizations))
    return User.objects.filter(Q(has_role) | Q(is_member), pk=user_id).values_list("pk")


_ALLOWED_USER: Final = SelectValues(_build_query)


def check_role_deletion(role: Role) -> None:
    """Check that no application allows this role and nothing else.

    Raises:
        LeavesNobody: an application does.

    """
    tenants.lock()
    _check_others(AllowedRole.objects.filter(role=role), AllowedRole.objects.exclude(role=role))


def check_organization_deletion(organization: Organization) -> None:
    """Check that no application allows this organization and nothing else.

    Raises:
        LeavesNobody: an application does.

    """
    tenants.lock()
    links = AllowedOrganization.objects
    _check_others(links.filter(organization=organization), links.exclude(organization=organization))


def _check_others(links: QuerySet[Any], other_links: QuerySet[Any]) -> None:
    """Check that each application of ``links`` has other links, of the same kind or of the other kind."""
    other_kind = AllowedOrganization if links.model is AllowedRole else AllowedRole
    has_same_kind = Exists(other_links.filter(application=OuterRef("pk")))
    has_other_kind = Exists(other_kind.objects.filter(application=OuterRef("pk")))
    alone = Application.objects.filter(~has_same_kind, ~has_other_kind, pk__in=links.values("application_id"))
    if found := list(alone.order_by("name", "pk")):
        raise LeavesNobody(found)
