"""The discovery document (OpenID Connect Discovery 1.0 section 3)."""

from functools import lru_cache
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.urls import get_script_prefix, reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from identity.core import tenancy
from identity.http.answers import Answer
from identity.users import profile
from oidc.keys import active_keys
from oidc.provider import acr
from oidc.provider.authorization.response import MODES
from oidc.provider.scopes import GROUPS, IDENTITY_SCOPES, ROLES
from oidc.provider.token.endpoint import GRANTS
from oidc.public_json import cacheable_json, encode

_SUPPORTED: Final[dict[str, Any]] = {
    "scopes_supported": list(IDENTITY_SCOPES),
    "response_types_supported": ["code"],
    "response_modes_supported": list(MODES),
    "grant_types_supported": list(GRANTS),
    "subject_types_supported": ["public"],
    "id_token_signing_alg_values_supported": ["ES256"],
    "token_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "code_challenge_methods_supported": ["S256"],
    "claims_supported": [
        "sub",
        "iss",
        "aud",
        "exp",
        "iat",
        "name",
        "email",
        "email_verified",
        "phone_number",
        "phone_number_verified",
        "picture",
        "username",
        "organizations",
        "organization_roles",
        "organization_id",
        "organization_is_admin",
        "gender",
        "updated_at",
        "auth_time",
        "nonce",
        "amr",
        "sid",
        "at_hash",
        "azp",
        "preferred_username",
        *(name for name in profile.TEXTS if name != "gender"),
        *(profile.ADDRESS, ROLES, GROUPS),
    ],
    "claims_parameter_supported": True,
    "revocation_endpoint_auth_methods_supported": ["client_secret_basic", "client_secret_post", "none"],
    "prompt_values_supported": ["none", "login", "consent", "select_account"],
    "authorization_response_iss_parameter_supported": True,
    "request_parameter_supported": False,
    "request_uri_parameter_supported": False,
}

_ENDPOINTS: Final = {
    "authorization_endpoint": "oidc:authorize",
    "token_endpoint": "oidc:token",
    "userinfo_endpoint": "oidc:userinfo",
    "revocation_endpoint": "oidc:revoke",
    "end_session_endpoint": "oidc:end-session",
    "jwks_uri": "oidc:jwks",
}


def get_endpoints() -> dict[str, str]:
    """Return the URLs of the tenant's endpoints, by their names in the document."""
    issuer, prefix = tenancy.active().issuer, get_script_prefix()  # not the tenant's on the operators' site
    return {name: f"{issuer}/{reverse(route).removeprefix(prefix)}" for name, route in _ENDPOINTS.items()}


def get_document() -> Answer:
    """Return the provider metadata of the active tenant.

    What can change is read each time, so that a change on one worker counts on all workers at once.
    """
    algorithms, level = active_keys.get_algorithms_and_level()
    return _encode(tenancy.active().issuer, tuple(algorithms), acr.find_supported(level))


@lru_cache(maxsize=1_024)  # at 4 KB each
def _encode(issuer: str, algorithms: tuple[str, ...], acr_values: tuple[str, ...]) -> Answer:
    document = {"issuer": issuer} | get_endpoints() | _SUPPORTED
    if acr_values:
        document["acr_values_supported"] = acr_values
        document["claims_supported"] = [*document["claims_supported"], "acr"]
    if len(algorithms) > 1:
        document["id_token_signing_alg_values_supported"] = algorithms
        document["userinfo_signing_alg_values_supported"] = algorithms
    return encode(document)


@csrf_exempt  # so that POST gets 405 instead of 403 for a missing CSRF token
@require_safe
def discovery(request: HttpRequest) -> HttpResponse:
    """Return the provider metadata of this tenant. Its URLs come from the settings."""
    return cacheable_json(request, get_document())
