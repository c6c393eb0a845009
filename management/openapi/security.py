"""The ways in, as the document names them."""

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


def _bearer(description: str) -> dict[str, Any]:
    return {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": description}


SCHEMES: Final[dict[str, dict[str, Any]]] = {
    _ADMINISTRATOR: _bearer("An administrator's token, from `POST /api/admin/sign-in`. It lives a day."),
    _MACHINE: _bearer(
        "An access token of a machine application that has the role `Service Management API access`, "
        "from `POST /oidc/token` with `grant_type=client_credentials`."
    ),
    _ORGANIZATION: _bearer(
        "As above, requested with `organization_id`: for an application that is bound to the organization "
        "and has a role there with `manage:organizations` or `all`."
    ),
    _USER: _bearer("An access token of a person, from the authorization code or refresh grant."),
    "client": {
        "type": "http",
        "scheme": "basic",
        "description": "`client_id` and `client_secret` of the application, or both in the form.",
    },
    "browser": {
        "type": "apiKey",
        "in": "cookie",
        "name": "gatehouse-browser.default",
        "description": "The cookie of the browser it began in. Its name ends in the tenant's slug.",
    },
}


def requirements(view: Any, route: str) -> list[Requirement]:
    """Return the ways into a view, any of which will do; none for what is open to all."""
    authenticators = {type(authenticator) for authenticator in view.get_authenticators()}
    if ManagementAuthentication in authenticators:
        only_people = any(isinstance(p, (IsAdministrator, IsSuperuser)) for p in view.get_permissions())
        scopes = sorted(SCOPES.get(route, {"all"}))
        machines: list[Requirement] = [] if only_people else [{_MACHINE: [scope]} for scope in scopes]
        return [{_ADMINISTRATOR: []}, *machines]
    if MachineAuthentication in authenticators:
        return [{_ORGANIZATION: ["manage:organizations"]}, {_ORGANIZATION: ["all"]}]
    if EndUserAuthentication in authenticators:
        return [{_USER: []}]
    return []
