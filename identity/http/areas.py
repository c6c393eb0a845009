"""Which paths belong to which interface. A tenant's prefix is no part of these paths."""

from typing import Final

API: Final = "/api/"
API_V1: Final = "/api/v1/"
PROTOCOL: Final = "/oidc/"
# The endpoints of OAuth whose callers are programs. Their errors are OAuth's JSON.
OAUTH: Final = ("/oidc/token", "/oidc/revoke", "/oidc/userinfo", "/.well-known/", "/oidc/.well-known/")
_SITE: Final = "/admin"


def is_of_site(path: str) -> bool:
    """Return whether a path is one of the operators' site."""
    return path == _SITE or path.startswith(f"{_SITE}/")
