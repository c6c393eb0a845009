"""The session context: the current user, application and organizations of an access token."""

from typing import Any, Final

from django.db.models import Exists, OuterRef, QuerySet

from identity.core.errors import ServiceError
from identity.core.tenant_statements import SelectValues, uuid
from identity.organizations.models import Membership
from oidc.grants.models import ConsentTarget
from oidc.provider.bearer import ContextPrincipal
from oidc.provider.scopes import EMAIL, ORGANIZATION_ROLES, ORGANIZATIONS, PHONE, PROFILE

Row = dict[str, Any]
# What the list shows of an organization. ``is_mfa_satisfied`` is only for those that require two factors.
_BRIEF: Final = ("id", "name", "logo_url", "is_mfa_satisfied")


def _rows(memberships: QuerySet[Membership]) -> QuerySet[Any, Any]:
    ordered = memberships.filter(user=uuid("user_id")).order_by("created_at", "pk", "role_links__role__name")
    return ordered.values_list(
        "organization_id",
        "organization__name",
        "organization__logo_url",
        "organization__is_mfa_required",
        "is_admin",
        "role_links__role__name",
    )


def _consented_memberships() -> QuerySet[Membership]:
    """Return memberships in organizations that the user's consent to an application includes."""
    consented = ConsentTarget.objects.filter(
        organization=OuterRef("organization_id"),
        consent__user=OuterRef("user_id"),
        consent__application=uuid("application_id"),
    )
    return Membership.objects.filter(Exists(consented))


_MEMBERSHIPS: Final = SelectValues(lambda: _rows(Membership.objects.all()))
_CONSENTED: Final = SelectValues(lambda: _rows(_consented_memberships()))


class NoAccess(ServiceError):
    """The requested organization is unknown, or the user is not a member of it."""

    status = 403
    reason = "no_access"
    message = "organization_id: not found, or no access"


def build(principal: ContextPrincipal, organization_id: str | None) -> Row:
    """Return the context, in one query. The principal must have been read with names.

    With ``organization_id``, the user must be a member of that organization now. Without it, the
    organization is that of the token, or null if the user has left it.

    Raises:
        NoAccess: the user is not a member of the requested organization.

    """
    tenant = principal.user.tenant
    organizations = _organizations(principal)
    token_organization_id = principal.claims.get("organization_id")
    current_id = token_organization_id if organization_id is None else organization_id
    current = organizations.get(str(current_id))
    listed = _listed_organizations(principal, organizations)
    is_allowed = current in listed or current_id == token_organization_id
    if organization_id is not None and (current is None or not is_allowed):
        raise NoAccess
    return {
        "tenant": {
            "id": tenant.pk,
            "slug": tenant.slug,
            "name": tenant.name,
        },
        "user": _user(principal),
        "application": {
            "id": principal.application_id,
            "name": principal.application_name,
            "type": principal.application_type,
            "tenant_id": tenant.pk,
        },
        "organization": current,
        "organizations": [{name: row[name] for name in _BRIEF if name in row} for row in listed],
        "session": {
            "subject": principal.claims["sub"],
            "client_id": principal.claims["client_id"],
            "scopes": list(principal.scopes),
            "current_organization_id": None if current is None else current["id"],
        },
    }


def _is_released(principal: ContextPrincipal, scope: str) -> bool:
    """Return whether the application of the token gets the data of a scope (decision N3).

    First-party applications get all data.
    """
    return not principal.is_third_party or scope in principal.scopes


def _user(principal: ContextPrincipal) -> Row:
    user = principal.user
    profile, email, phone = (_is_released(principal, scope) for scope in (PROFILE, EMAIL, PHONE))
    return {
        "id": user.pk,
        "username": user.username if profile else "",
        "name": user.name if profile else "",
        "email": user.email if email else "",
        "phone_number": user.phone if phone else "",
        "avatar": user.avatar if profile else None,
        "updated_at": int(user.updated_at.timestamp()) if profile else None,
    }


def _listed_organizations(principal: ContextPrincipal, organizations: dict[str, Row]) -> list[Row]:
    """Return the organizations that the application may list. The token's own needs no scope."""
    return list(organizations.values()) if _is_released(principal, ORGANIZATIONS) else []


def _organizations(principal: ContextPrincipal) -> dict[str, Row]:
    """Return the user's organizations by id, each with the user's roles in it, in one query.

    A third-party application gets only the organizations of the user's consent, and roles only with their
    scope.
    """
    with_roles = _is_released(principal, ORGANIZATION_ROLES)
    if principal.is_third_party:
        rows = _CONSENTED.all(user_id=principal.user.pk, application_id=principal.application_id)
    else:
        rows = _MEMBERSHIPS.all(user_id=principal.user.pk)
    is_satisfied = any(row[3] for row in rows) and principal.satisfies_organizations()
    organizations: dict[str, Row] = {}
    for pk, name, logo_url, is_mfa_required, is_admin, role in rows:
        organization = organizations.setdefault(
            str(pk),
            {
                "id": pk,
                "name": name,
                "logo_url": logo_url,
                **({"is_mfa_satisfied": is_satisfied} if is_mfa_required else {}),
                "is_member": True,
                "is_admin": is_admin,
                "roles": [],
            },
        )
        if role is not None and with_roles:
            organization["roles"].append(role)
    return organizations
