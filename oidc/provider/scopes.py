"""The identity scopes, in the order in which discovery lists them."""

from collections.abc import Iterable
from typing import Final

OPENID: Final = "openid"
PROFILE: Final = "profile"
EMAIL: Final = "email"
PHONE: Final = "phone"
OFFLINE_ACCESS: Final = "offline_access"
ORGANIZATIONS: Final = "urn:service:scope:organizations"
ORGANIZATION_ROLES: Final = "urn:service:scope:organization_roles"

ADDRESS: Final = "address"
ROLES: Final = "roles"
GROUPS: Final = "groups"

# Scopes of resources and organizations with these names are never granted.
RESERVED: Final = (OPENID, PROFILE, EMAIL, PHONE, OFFLINE_ACCESS, ORGANIZATIONS, ORGANIZATION_ROLES)
# Release 0.1.3 did not have them, so scopes of resources and organizations may have these names. Where the
# target of a token has such a scope, the name means that scope.
NEWER: Final = (ADDRESS, ROLES, GROUPS)
IDENTITY_SCOPES: Final = (*RESERVED, *NEWER)
MOST_BYTES: Final = 6144  # of the other scopes of a token together


def get_identity_scopes(scope: str) -> list[str]:
    """Return the identity scopes of a ``scope`` parameter, each once, in their order."""
    return [name for name in dict.fromkeys(scope.split()) if name in IDENTITY_SCOPES]


def are_too_long(scopes: Iterable[str]) -> bool:
    """Return whether these scopes, besides the identity scopes, are more than a token can have."""
    return len(" ".join(scopes).encode()) > MOST_BYTES


def get_further_scopes(scope: str) -> tuple[str, ...]:
    """Return the scopes of a ``scope`` parameter that are no identity scopes, each once, in their order."""
    return tuple(name for name in dict.fromkeys(scope.split()) if name not in IDENTITY_SCOPES)
