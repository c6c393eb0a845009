"""The identity scopes, in the order in which discovery lists them."""

from typing import Final

OPENID: Final = "openid"
PROFILE: Final = "profile"
EMAIL: Final = "email"
PHONE: Final = "phone"
OFFLINE_ACCESS: Final = "offline_access"
ORGANIZATIONS: Final = "urn:service:scope:organizations"
ORGANIZATION_ROLES: Final = "urn:service:scope:organization_roles"

IDENTITY_SCOPES: Final = (OPENID, PROFILE, EMAIL, PHONE, OFFLINE_ACCESS, ORGANIZATIONS, ORGANIZATION_ROLES)


def get_identity_scopes(scope: str) -> list[str]:
    """Return the identity scopes of a ``scope`` parameter, each once, in their order."""
    return [name for name in dict.fromkeys(scope.split()) if name in IDENTITY_SCOPES]
