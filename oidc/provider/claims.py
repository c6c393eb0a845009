"""The claims about a user, and the scopes that release them."""

from collections.abc import Collection
from typing import Any, Final

from identity.users import profile
from identity.users.models import User
from oidc.provider.scopes import (
    ADDRESS,
    EMAIL,
    GROUPS,
    ORGANIZATION_ROLES,
    ORGANIZATIONS,
    PHONE,
    PROFILE,
    ROLES,
)

_RELEASED: Final = {
    PROFILE: (
        *("name", "username", "preferred_username", "picture", "gender", "updated_at"),
        *(name for name in profile.TEXTS if name != "gender"),
    ),
    EMAIL: ("email", "email_verified"),
    PHONE: ("phone_number", "phone_number_verified"),
    ORGANIZATIONS: ("organizations",),
    ORGANIZATION_ROLES: ("organization_roles",),
    ADDRESS: (profile.ADDRESS,),
    ROLES: (ROLES,),
    GROUPS: (GROUPS,),
}
# What the consent page of release 0.1.3 named for ``profile``. ``preferred_username`` is the username.
_NOT_IN_OLD_PROFILE: Final = frozenset(_RELEASED[PROFILE]).difference(
    ("name", "username", "preferred_username", "picture", "gender", "updated_at")
)
# An ID token may be forwarded and logged, so a scope releases fewer claims in it than at userinfo.
_IN_ID_TOKEN: Final = (
    *("name", "username", "preferred_username", "picture", "email", "email_verified"),
    *(ROLES, GROUPS),
)

SCOPE_OF: Final = {name: scope for scope, names in _RELEASED.items() for name in names}


def get_names(scopes: Collection[str]) -> set[str]:
    """Return the names of the claims that scopes release."""
    return {name for name, scope in SCOPE_OF.items() if scope in scopes}


def without_new_profile(names: Collection[str]) -> set[str]:
    """Return the names without those that the scope ``profile`` releases since release 0.2.0."""
    return set(names) - _NOT_IN_OLD_PROFILE


def get_id_token_names(scopes: Collection[str], requested: Collection[str] = ()) -> set[str]:
    """Return the names of the claims of an ID token: those of its scopes and those of ``claims``."""
    return get_names(scopes).intersection(_IN_ID_TOKEN).union(requested)


def get_values(user: User, names: Collection[str]) -> dict[str, Any]:
    """Return those of the named claims that have a value for the user (OpenID Connect Core 5.1)."""
    custom = user.custom_data.get("gender")
    is_gender = isinstance(custom, str) and len(custom) <= profile.LONGEST_GENDER
    claims: dict[str, Any] = user.profile | {
        "name": user.name,
        "username": user.username,
        # Core 5.1. Many applications read this claim and no ``username``.
        "preferred_username": user.username,
        "picture": user.avatar,
        "gender": user.profile.get("gender") or (custom if is_gender else None),
        # Core 5.1: a number of seconds, not a string.
        "updated_at": int(user.updated_at.timestamp()),
    }
    if user.email:
        claims |= {"email": user.email, "email_verified": user.email_verified}
    if user.phone:
        claims |= {"phone_number": user.phone, "phone_number_verified": user.phone_verified}
    # Core 5.3.2: a claim that is not returned SHOULD be omitted, not null or empty.
    return {name: value for name, value in claims.items() if name in names and value not in (None, "")}
