"""The discovery document (OpenID Connect Discovery 1.0 section 3)."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from identity.core import tenancy
from oidc.provider.scopes import IDENTITY_SCOPES
from oidc.provider.token.endpoint import GRANTS
from oidc.public_json import cacheable_json

_SUPPORTED: Final[dict[str, Any]] = {
    "scopes_supported": list(IDENTITY_SCOPES),
    "response_types_supported": ["code"],
    "response_modes_supported": ["query", "fragment"],
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


@csrf_exempt  # so that POST gets 405 instead of 403 for a missing CSRF token
@require_safe
def discovery(request: HttpRequest) -> HttpResponse:
    """Return the provider metadata of this tenant. Its URLs come from the settings."""
    addresses = {name: f"{settings.BASE_URL}{reverse(route)}" for name, route in _ENDPOINTS.items()}
    return cacheable_json(request, {"issuer": tenancy.active().issuer} | addresses | _SUPPORTED)
