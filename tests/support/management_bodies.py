"""A body that is good for each write below ``/api/v1``. A new write fails here until it has its line."""

import base64
import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tests.support.management import result_of
from tests.support.names import new_name, new_phone

if TYPE_CHECKING:
    from tests.support.surface import Estate

Body = dict[str, Any]


def _user(estate: "Estate") -> Body:
    return {
        "username": new_name("u"),
        "password": "sesame",
        "name": "Ada",
        "email": f"{new_name('u')}@example.com",
        "phone": new_phone(),
        "avatar": "https://example.com/a.png",
        "custom_data": {"gender": "female"},
    }


def _user_changes(estate: "Estate") -> Body:
    changes = _user(estate)
    return {name: changes[name] for name in ("name", "email", "phone", "avatar", "custom_data")}


def _named(estate: "Estate") -> Body:
    return {"name": new_name(), "description": "what it\nmeans"}


def _branding() -> Body:
    picture = "https://example.com/a.svg"
    return {
        "logo_url": picture,
        "dark_logo_url": picture,
        "favicon": picture,
        "primary_color": "#0a84ff",
        "dark_primary_color": "#fff",
        "layout": "split",
    }


def _organization(estate: "Estate") -> Body:
    further = {"logo_url": "https://example.com/logo.png", "branding": _branding()}
    return {**_named(estate), "metadata": {"plan": "pro"}, **further}


def _application(estate: "Estate") -> Body:
    metadata = {
        "redirect_uris": ["https://rp.example/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
        "post_logout_redirect_uris": ["https://rp.example/"],
    }
    further = {"is_third_party": False, "branding": _branding()}
    return {**_named(estate), "type": "SPA", "oidc_client_metadata": metadata, **further}


def _application_changes(estate: "Estate") -> Body:
    metadata = {"grant_types": ["client_credentials"]}
    further = {"is_third_party": False, "branding": _branding()}
    return {**_named(estate), "oidc_client_metadata": metadata, **further}


def _oidc_settings(_: "Estate") -> Body:
    return {
        "default_signing_alg": "ES256",
        "acr_aliases": [{"value": "https://refeds.org/profile/mfa", "level": "phr"}],
        "groups_claim": "roles",
        "client_id_metadata_documents": {"enabled": False, "hosts": ["apps.example.com"]},
        "dynamic_registration": {
            "mode": "off",
            "allowed_scopes": ["profile"],
            "redirect_hosts": ["app.example.com"],
            "default_days": 30,
        },
        "session_idle_seconds": 3600,
        "refresh_token_idle_seconds": 3600,
        "keep_signed_in": False,
    }


def _experience(estate: "Estate") -> Body:
    return {
        "branding": _branding(),
        "sign_in": {
            "methods": [{"identifier": "username", "password": True, "verification_code": False}],
            "ways": ["password", "verification_code"],
        },
        "sign_up": {
            "identifiers": ["username"],
            "password": True,
            "verify": False,
            "agree_to_terms": "automatic",
        },
        "password_policy": {
            "min_length": 8,
            "require_lowercase": True,
            "require_uppercase": False,
            "require_numbers": True,
            "require_special_chars": False,
            "reject_common": False,
            "strength_meter": False,
        },
        "mfa": {"factors": ["Totp", "BackupCode"], "policy": "NoPrompt", "social": "ask"},
        "passkey_sign_in": {"enabled": False},
        "trusted_device_policy": {"enabled": False, "duration_days": 14},
        "adaptive_mfa": {"enabled": False},
        "attestation": {"require": False},
        "forgot_password_requires_factor": False,
        "message_templates": [
            {
                "purpose": "sign_in",
                "channel": "sms",
                "language": "",
                "text": "{code}",
                "subject": "",
                "html": "",
            }
        ],
        "page_texts": [{"key": "sign_in_button", "language": "de", "text": "Los"}],
        "terms_of_use_url": "https://example.com/terms",
        "privacy_policy_url": "https://example.com/privacy",
    }


def _administrator(estate: "Estate") -> Body:
    return {
        "username": new_name("a"),
        "password": "open sesame!",
        "email": "ops@example.com",
        "phone": "+4930123456",
        "is_superuser": False,
        "tenants": [],
    }


def _invitation(_: "Estate") -> Body:
    return {"email": f"{new_name('i')}@example.com", "is_superuser": False, "role": "auditor", "tenants": []}


def _administrator_changes(estate: "Estate") -> Body:
    return {name: value for name, value in _administrator(estate).items() if name != "username"}


def _recovery_code(estate: "Estate") -> Body:
    """A body for a tenant that has something to set up."""
    result_of(estate.admin.patch("/sign-in-experience", mfa={"factors": ["Totp"]}))
    return {"expires_in": 600}


def _ids(name: str, collection: str) -> Callable[["Estate"], Body]:
    return lambda estate: {name: [estate[collection]]}


def _unused_algorithm(estate: "Estate") -> Body:
    unused = {"algorithm": "EdDSA"}
    result_of(estate.admin.post("/signing-keys/rotate", **unused))
    return unused


BODIES: Final[dict[str, Callable[["Estate"], Body]]] = {
    "POST /signing-keys/retire": _unused_algorithm,
    "POST /users": _user,
    "PATCH /users/:pk": _user_changes,
    "PATCH /users/:pk/password": lambda _: {"password": "open sesame"},
    "PATCH /users/:pk/suspend": lambda _: {"is_suspended": False},
    "POST /users/:pk/mfa-verifications": lambda _: {
        "type": "Totp",
        "secret": base64.b32encode(secrets.token_bytes(20)).decode(),
        "name": "Phone",
    },
    "POST /users/:pk/recovery-codes": _recovery_code,
    "PATCH /users/:pk/mfa-settings": lambda _: {"two_step": True},
    "PUT /users/:pk/roles": _ids("role_ids", "roles"),
    "POST /roles": lambda estate: {**_named(estate), "type": "User"},
    "PATCH /roles/:pk": _named,
    "PUT /roles/:pk/scopes": _ids("scope_ids", "scopes"),
    "PUT /roles/:pk/users": _ids("user_ids", "users"),
    "POST /resources": lambda _: {
        "name": new_name(),
        "indicator": f"https://{new_name('api')}.example",
        "access_token_ttl": 600,
        "is_default": False,
    },
    "PATCH /resources/:pk": lambda _: {"name": new_name(), "access_token_ttl": 700, "is_default": False},
    "POST /resources/:resource_pk/scopes": _named,
    "POST /organizations": _organization,
    "PATCH /organizations/:pk": _organization,
    "POST /organizations/:pk/users": lambda estate: {"user_ids": [estate.another_user()]},
    "PATCH /organizations/:pk/users/:user_pk": lambda _: {"is_admin": False},
    "PUT /organizations/:pk/users/:user_pk/roles": _ids("organization_role_ids", "organization-roles"),
    "POST /organizations/:pk/applications": _ids("application_ids", "applications"),
    "PUT /organizations/:pk/applications/:application_pk/roles": _ids(
        "organization_role_ids", "machine organization roles"
    ),
    "POST /organization-roles": lambda estate: {**_named(estate), "type": "User"},
    "PATCH /organization-roles/:pk": _named,
    "PUT /organization-roles/:pk/scopes": _ids("scope_ids", "organization-permissions"),
    "PUT /organization-roles/:pk/resource-scopes": _ids("scope_ids", "scopes"),
    "POST /organization-permissions": _named,
    "POST /applications": _application,
    "PATCH /applications/:pk": _application_changes,
    "POST /applications/:pk/claims-preview": lambda estate: {"user_id": estate.another_user()},
    "POST /applications/:pk/secrets": lambda _: {"name": new_name(), "expires_at": "2099-01-31T12:00:00Z"},
    "PUT /applications/:pk/roles": _ids("role_ids", "machine roles"),
    "POST /connectors": lambda _: {
        "connector_id": "outbox-sms",
        "type": "Sms",
        "config": {"sign_name": "x"},
        "enabled": False,
    },
    "PATCH /connectors/:pk": lambda _: {"config": {"sign_name": "y"}, "enabled": False},
    "POST /connectors/:pk/test": lambda _: {"to": new_phone()},
    "PATCH /oidc-settings": _oidc_settings,
    "PATCH /sign-in-experience": _experience,
    "POST /tenants": lambda _: {"slug": new_name("t"), "name": "Another"},
    "PATCH /tenants/:pk": lambda _: {"name": new_name()},
    "POST /administrators": _administrator,
    "POST /administrator-invitations": _invitation,
    "PATCH /administrators/:pk": _administrator_changes,
    "POST /m2m/organizations/:organization_pk/members": lambda _: {
        "phone": new_phone(),
        "name": "New",
        "email": f"{new_name('u')}@example.com",
    },
    "PUT /m2m/organizations/:organization_pk/members/:user_pk/roles": _ids("role_ids", "organization-roles"),
}
