"""The security schemes, and which of them each view accepts."""

from typing import Any, Final

from management.administrators.permissions import IsAdministrator
from management.api.authentication import ManagementAuthentication
from management.api.permissions import SCOPES, IsSuperuser
from management.members.authentication import MachineAuthentication
from oidc.context.authentication import EndUserAuthentication

Requirement = dict[str, list[str]]

_ADMINISTRATOR: Final = "administratorToken"
_MACHINE: Final = "machineToken"
_ORGANIZATION: Final = "organizationToken"
_USER: Final = "userToken"
_SESSION: Final = "session"


def _bearer(description: str) -> dict[str, Any]:
    return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": description}


SCHEMES: Final[dict[str, dict[str, Any]]] = {
    _ADMINISTRATOR: _bearer(
        "An administrator's token, from `POST /api/admin/sign-in`. By default it is valid for one day."
    ),
    _MACHINE: _bearer(
        "An access token of a machine application with the role `Service Management API access`, "
        "from `POST /oidc/token` with `grant_type=client_credentials`."
    ),
    _ORGANIZATION: _bearer(
        "An access token of a machine application, requested with `organization_id`. The application must be "
        "bound to the organization and have a role there with the scope `manage:organizations` or `all`."
    ),
    _USER: _bearer("An access token of a user, from the authorization code or refresh token grant."),
    "client": {
        "type": "http",
        "scheme": "basic",
        "description": "The application's `client_id` and `client_secret`. They can be in the form instead.",
    },
    _SESSION: {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse-session.default",
        "description": "The cookie of a signed-in user, for pages of the same origin. Its name ends with the "
        "tenant's slug.",
    },
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse-browser.default",
        "description": "The cookie that ties a pending request to its browser. Its name ends with the "
        "tenant's slug.",
    },
}


def requirements(view: Any, route: str) -> list[Requirement]:
    """Return the alternative security requirements of a view; an empty list if it is public."""
    if getattr(view, "needs_session", False):
        return [{_SESSION: []}]
    authenticators = {type(authenticator) for authenticator in view.get_authenticators()}
    if ManagementAuthentication in authenticators:
        only_administrators = any(
            isinstance(permission, (IsAdministrator, IsSuperuser)) for permission in view.get_permissions()
        )
        scopes = sorted(SCOPES.get(route, {"all"}))
        machines: list[Requirement] = [] if only_administrators else [{_MACHINE: [scope]} for scope in scopes]
        return [{_ADMINISTRATOR: []}, *machines]
    if MachineAuthentication in authenticators:
        return [{_ORGANIZATION: ["manage:organizations"]}, {_ORGANIZATION: ["all"]}]
    if EndUserAuthentication in authenticators:
        return [{_USER: []}]
    return []
