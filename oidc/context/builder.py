"""The real-time session context: who is behind a token, where, and what they may enter now."""

from typing import Any, Final
from uuid import UUID

from identity.core.compiled import Tuples, uuid
from identity.core.errors import ServiceError
from identity.organizations.models import Membership
from identity.users.models import User
from oidc.provider.bearer import Principal

Row = dict[str, Any]

_MEMBERSHIPS: Final = Tuples(
    lambda: (
        Membership.objects.filter(user=uuid("user_id"))
        .order_by("created_at", "pk", "role_links__role__name")
        .values_list(
            "organization_id",
            "organization__name",
            "organization__logo_url",
            "is_admin",
            "role_links__role__name",
        )
    )
)


class NoAccess(ServiceError):
    """The organization asked for is unknown, or the user does not belong to it (any more)."""

    status = 403
    reason = "no_access"
    message = "organization_id: not found, or no access"


def build(principal: Principal, organization_id: str | None) -> Row:
    """Return the context, in one query. The principal is one with names.

    With ``organization_id`` the user must belong to it now. Without, the organization of
    the token is used; when the user left it, there is none: never another one.

    Raises:
        NoAccess: the organization that was asked for is not the user's.

    """
    tenant = principal.user.tenant
    joined = _organizations(principal.user.pk)
    wanted = principal.claims.get("organization_id") if organization_id is None else organization_id
    chosen = joined.get(str(wanted))
    if organization_id is not None and chosen is None:
        raise NoAccess
    return {
        "tenant": {
            "id": tenant.pk,
            "slug": tenant.slug,
            "name": tenant.name,
        },
        "user": _user(principal.user),
        "application": {
            "id": principal.application_id,
            "name": principal.application_name,
            "type": principal.application_type,
            "tenant_id": tenant.pk,
        },
        "organization": chosen,
        "organizations": [
            {name: row[name] for name in ("id", "name", "logo_url")} for row in joined.values()
        ],
        "session": {
            "subject": principal.claims["sub"],
            "client_id": principal.claims["client_id"],
            "scopes": list(principal.scopes),
            "current_organization_id": None if chosen is None else chosen["id"],
        },
    }


def _user(user: User) -> Row:
    return {
        "id": user.pk,
        "username": user.username,
        "name": user.name,
        "email": user.email,
        "phone_number": user.phone,
        "avatar": user.avatar,
        "updated_at": int(user.updated_at.timestamp()),
    }


def _organizations(user_id: UUID) -> dict[str, Row]:
    """Return the user's organizations by id, each with the roles held there, in one query."""
    found: dict[str, Row] = {}
    for pk, name, logo_url, is_admin, role in _MEMBERSHIPS.all(user_id=user_id):
        organization = found.setdefault(
            str(pk),
            {
                "id": pk,
                "name": name,
                "logo_url": logo_url,
                "is_member": True,
                "is_admin": is_admin,
                "roles": [],
            },
        )
        if role is not None:
            organization["roles"].append(role)
    return found
