"""The words of the API's document: what it says beside what is read from the code."""

from pathlib import Path
from typing import Any, Final

INTRODUCTION: Final = (Path(__file__).parent / "introduction.md").read_text()

TAGS: Final[dict[str, tuple[str, str]]] = {
    ".well-known": ("Discovery", "What the provider can do, and the keys its tokens are signed with."),
    "oidc": ("OpenID Connect", "Signing people in, and tokens for people and for programs."),
    "session": ("Session context", "Who is behind an access token, and what they may enter at this moment."),
    "interaction": ("Interaction", "What a sign-in front end calls. It rides on the browser's cookies."),
    "admin": ("Administrator sign-in", "How administrators come in."),
    "users": ("Users", "People who sign in."),
    "roles": ("Roles", "System roles, for people or for machines."),
    "resources": ("API resources", "APIs that tokens are for, and their scopes."),
    "organizations": ("Organizations", "Customers, teams or partners, with members of their own."),
    "organization-roles": ("Organization templates", "Roles and permissions that every organization shares."),
    "organization-permissions": ("Organization templates", ""),
    "applications": ("Applications", "Programs that sign people in or act on their own."),
    "connectors": ("Connectors", "Providers of email, SMS and social sign-in."),
    "connector-factories": ("Connectors", ""),
    "signing-keys": ("Signing keys", "The keys of the tenant. Exactly one is active, at most one is next."),
    "sign-in-experience": ("Sign-in experience", "How signing in looks, and which ways there are."),
    "logs": ("Audit log", "What happened. Nothing in it can be changed."),
    "m2m": (
        "Members, for applications",
        "The members of the token's organization. Pages and errors have a shape of their own.",
    ),
    "tenants": ("Tenants", "At the root only, for administrators of every tenant."),
    "administrators": ("Administrators", "At the root only, for administrators of every tenant."),
    "openapi.json": ("This document", "The description that you are reading."),
    "docs": ("This document", ""),
}

_TRUTH: Final = {"type": "boolean"}
_ANY: Final = {"type": "string"}

PARAMETERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "page": ("Which page.", {"type": "integer", "minimum": 1, "default": 1}),
    "page_size": (
        "How many there are on a page. More than 100 is served as 100.",
        {"type": "integer", "minimum": 1, "default": 20},
    ),
    "search": ("Text that is looked for anywhere in the fields that people search by.", _ANY),
    "is_suspended": ("Only users who are suspended, or only those who are not.", _TRUTH),
    "is_admin": ("Only administrators of the organization, or only others.", _TRUTH),
    "key": ("Exactly this kind of event, as in `SignIn.Password`.", _ANY),
    "user_id": ("Exactly this user.", _ANY),
    "application_id": ("Exactly this application.", _ANY),
    "start_time": ("From this moment on, included.", {"type": "string", "format": "date-time"}),
    "end_time": ("Up to this moment, excluded.", {"type": "string", "format": "date-time"}),
    "tenant_id": ("Another tenant, which may be deleted already. Heeded for superusers only.", _ANY),
    "organization_id": ("An organization of the user; without it that of the token.", _ANY),
    "phone": ("Exactly this phone number, however it is spaced.", _ANY),
}

FIELDS: Final[dict[str, str]] = {
    "username": "Unique in the tenant, whatever the case.",
    "password": "At least 6 characters.",
    "password_hash": "Instead of a password: a hash of argon2, bcrypt, scrypt or PBKDF2.",
    "custom_data": "Replaced as a whole.",
    "metadata": "Replaced as a whole.",
    "config": "Replaced as a whole. Secrets are shown as `***`, which sent back keeps them.",
    "is_suspended": "A suspended user cannot sign in.",
    "login_count": "How often the user signed in.",
    "indicator": "An absolute URI, unique in the tenant. It cannot be changed.",
    "access_token_ttl": "How many seconds access tokens for this resource live.",
    "client_secret": "Shown this once. Keep it.",
    "is_third_party": "Whether people are asked for consent.",
    "require_pkce": "Whether authorization requests need a code challenge. Always for SPA and Native.",
    "is_admin": "Whether the member administers the organization.",
    "is_superuser": "Whether every tenant may be managed.",
    "audit_retention_days": "How long audit entries are kept, 31 days at least; null: for ever.",
    "role": "An auditor may only read, support may also change users; an administrator may do everything.",
    "tenants": "Slugs of the tenants that may be managed.",
    "slug": "The part of paths that names the tenant. It cannot be changed, or used again.",
    "expires_in": "How many seconds it lives.",
    "redirect_to": "Where the browser goes next.",
    "interaction": "Which pending request is meant; without it the newest of this browser.",
    "identifier": "A username, email address or phone number.",
    "identifier_type": "What kind of identifier it is.",
    "interaction_type": "What the code is for. It is good for nothing else.",
    "code": "The six digits that were sent.",
    "new_password": "It has to keep the tenant's password policy.",
    "phone_number": "The phone as the user has it.",
    "published_at": "Since when the key is in the key set.",
    "activated_at": "When it began to sign; `null` for the next key.",
    "retired_at": "When another key took its place; `null` before that.",
    "unexpired_tokens": "Access tokens and ID tokens that it signed and that have not expired. Those that "
    "ended early, by revocation or with their session, are counted too.",
    "safe_to_delete_at": "For a previous key, when the last token that it signed expires; `null` when none "
    "is left, and for other keys.",
}

SUMMARY_VERBS: Final = {
    "retrieve": "Get {a_thing}",
    "create": "Create {a_thing}",
    "partial_update": "Change {a_thing}",
    "destroy": "Delete {a_thing}",
}

OPERATION_VERBS: Final = {
    "retrieve": "get",
    "partial_update": "update",
    "destroy": "delete",
    "patch": "update",
    "put": "replace",
}
