"""The texts of the OpenAPI document that do not come from views."""

from pathlib import Path
from typing import Any, Final

INTRODUCTION: Final = (Path(__file__).parent / "introduction.md").read_text()

TAGS: Final[dict[str, tuple[str, str]]] = {
    ".well-known": ("Discovery", "The provider's metadata, and the keys that verify its tokens."),
    "oidc": ("OpenID Connect", "Sign-in, sign-out and tokens."),
    "session": ("Session context", "The user behind an access token, and what they may use now."),
    "interaction": (
        "Interaction",
        "For front ends with their own sign-in pages. These operations use the browser's cookies.",
    ),
    "my-account": (
        "My account",
        "For front ends with their own account pages. These operations use the browser's session.",
    ),
    "admin": ("Administrator sign-in", "Tokens of administrators."),
    "users": ("Users", "The people who sign in to applications."),
    "roles": ("Roles", "System roles, for users or for machine applications."),
    "resources": ("API resources", "The APIs that access tokens are for, and their scopes."),
    "organizations": ("Organizations", "Customers, teams or partners, and their members."),
    "organization-roles": ("Organization templates", "Roles and permissions that all organizations share."),
    "organization-permissions": ("Organization templates", ""),
    "applications": ("Applications", "Programs that sign users in or act on their own behalf."),
    "connectors": ("Connectors", "Providers of email, SMS, CAPTCHAs and social sign-in."),
    "connector-factories": ("Connectors", ""),
    "signing-keys": (
        "Signing keys",
        "The keys of the tenant. For each algorithm, one is active and at most one is next.",
    ),
    "oidc-settings": ("OpenID Connect settings", "Optional parts of the protocol, and lifetimes."),
    "sign-in-experience": ("Sign-in experience", "The look of the sign-in pages, and the ways to sign in."),
    "logs": ("Audit log", "What happened in the tenant. Entries cannot be changed."),
    "m2m": (
        "Members, for applications",
        "The members of the organization that the token is for. Lists and errors have their own format.",
    ),
    "tenants": ("Tenants", "Served only at the root, for administrators of every tenant."),
    "administrator-invitations": (
        "Invitations of administrators",
        "Served only at the root, for administrators of every tenant.",
    ),
    "administrators": ("Administrators", "Served only at the root, for administrators of every tenant."),
    "openapi.json": ("This document", "The document that you are reading."),
    "docs": ("This document", ""),
}

_BOOLEAN: Final = {"type": "boolean"}
_STRING: Final = {"type": "string"}

PARAMETERS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "page": ("The number of the page, starting at 1.", {"type": "integer", "minimum": 1, "default": 1}),
    "page_size": (
        "Items per page. Values above 100 are treated as 100.",
        {"type": "integer", "minimum": 1, "default": 20},
    ),
    "search": ("Only items that contain this text in a searchable field.", _STRING),
    "id": ("Only the item with this id.", _STRING),
    "username": ("Only the user with this username, ignoring case.", _STRING),
    "primary_email": ("Only the user with this email address, ignoring case.", _STRING),
    "primary_phone": ("Only the user with this phone number, in any notation.", _STRING),
    "is_suspended": ("`true`: only suspended users. `false`: only users who are not suspended.", _BOOLEAN),
    "is_admin": ("`true`: only administrators of the organization. `false`: only other members.", _BOOLEAN),
    "key": ("Only events of this type, such as `SignIn.Password`.", _STRING),
    "user_id": ("Only entries of this user.", _STRING),
    "application_id": ("Only entries of this application.", _STRING),
    "start_time": ("Only entries at or after this time.", {"type": "string", "format": "date-time"}),
    "end_time": ("Only entries before this time.", {"type": "string", "format": "date-time"}),
    "tenant_id": (
        "Entries of another tenant, which may have been deleted. Ignored unless the caller is a superuser.",
        _STRING,
    ),
    "organization_id": ("An organization of the user. Default: the organization of the token.", _STRING),
    "interaction": (
        "The id of the pending authorization request. Default: the newest one of this browser.",
        _STRING,
    ),
    "phone": ("Only the member with this phone number, in any notation.", _STRING),
}

# By field name, or by schema and field name where the name has several meanings.
FIELDS: Final[dict[str, str]] = {
    "username": "Unique in the tenant, ignoring case.",
    "password": "At least 6 characters.",
    "password_hash": "A hash of the password, instead of `password`: argon2, bcrypt, scrypt or PBKDF2.",
    "custom_data": "A PATCH replaces the whole object.",
    "claims": "Which of the claims `roles` and `groups` access tokens for this resource have.",
    "custom_claims": "Declared claims, each with a name, a source, and the places that get it.",
    "CustomClaim.source": "`user.<field>`, `user.profile.<path>`, `user.custom_data.<path>`, "
    "`organization.id`, `organization.name`, `organization.metadata.<path>`, `roles`, `groups`, "
    "`organization_roles`, or an object with a constant `value`.",
    "given_name": "The same value as `profile.given_name`.",
    "family_name": "The same value as `profile.family_name`.",
    "User.profile": "Standard claims, which applications get with the scopes `profile` and `address`. A "
    "PATCH changes the members that it has: `null` removes a member, and an address replaces the whole "
    "address.",
    "metadata": "A PATCH replaces the whole object.",
    "config": "A PATCH replaces the whole object. Secrets are returned as `***`, which keeps a secret if you "
    "send it back.",
    "is_suspended": "A suspended user cannot sign in.",
    "login_count": "How often the user has signed in.",
    "indicator": "An absolute URI, unique in the tenant. It cannot be changed.",
    "access_token_ttl": "The lifetime of access tokens for this resource, in seconds.",
    "client_secret": "Returned only in this response. Store it.",
    "is_third_party": "Whether users are asked for consent.",
    "allowed_role_ids": "The system roles whose users may use the application. With a role or an "
    "organization, all other users are refused. Send both lists empty to let every user use it.",
    "allowed_organization_ids": "The organizations whose members may use the application, beside the "
    "users of `allowed_role_ids`.",
    "client_uri": "The application's website: an https URL.",
    "logo_uri": "The application's logo: an https URL. Pages show the logos of your own applications only.",
    "policy_uri": "The application's privacy policy: an https URL.",
    "tos_uri": "The application's terms of use: an https URL.",
    "contacts": "Email addresses of the people who are responsible for the application. At most ten.",
    "initiate_login_uri": "The https URL at which the application begins a sign-in. The user's account page "
    "links to it, with `iss`.",
    "require_pkce": "Whether authorization requests need a code challenge. Always true for SPA and Native.",
    "is_admin": "Whether the member is an administrator of the organization.",
    "is_superuser": "Whether the administrator may manage every tenant.",
    "audit_retention_days": "How many days audit entries are kept, at least 1. `null`: forever.",
    "role": "`auditor` may only read, `support` may also help users, `administrator` may do everything.",
    "tenants": "Slugs of the tenants that the administrator may manage.",
    "slug": "The tenant's name in paths. It cannot be changed, and is never reused for another tenant.",
    "expires_in": "The lifetime in seconds.",
    "redirect_to": "The URL to redirect the browser to.",
    "interaction": "The id of the pending authorization request. Default: the newest one of this browser.",
    "identifier": "A username, email address or phone number.",
    "identifier_type": "The type of the identifier.",
    "interaction_type": "The purpose of the code. The code is valid for no other purpose.",
    "code": "The code that was sent.",
    "new_password": "Must satisfy the tenant's password policy.",
    "phone_number": "The user's phone number, as stored.",
    "published_at": "When the key was added to the key set.",
    "activated_at": "When the key started to sign. `null` for the next key.",
    "retired_at": "When another key replaced this key. `null` for the active and the next key.",
    "last_token_expires_at": "When the last access token or ID token that the key signed expires, rounded "
    "up to the full hour, or `null` if all have expired. Tokens that were revoked or whose session has ended "
    "count too.",
    "safe_to_delete_at": "For a previous key: `last_token_expires_at`. `null` for the active and the next "
    "key.",
    "Administrator.username": "Unique in the installation, ignoring case.",
    "Administrator.is_superuser": "Whether the administrator may manage every tenant.",
    "Invitation.email": "Where the link is sent. It is proven when the invitation is accepted by that link.",
    "Invitation.invited_by": "The username of the administrator who answers for the invitation.",
    "Invitation.is_mailed": "Whether the link was sent by mail.",
    "Invitation.expires_at": "When the link stops working.",
    "Invitation.is_superuser": "Whether the invited person will manage every tenant.",
    "AdministratorSignIn.username": "The administrator's username.",
    "AdministratorSignIn.password": "The administrator's password.",
    "AdministratorWrite.username": "Unique in the installation, ignoring case.",
    "SigningKey.is_default": "Whether it signs unless an application or API resource names an algorithm.",
    "SigningKeyDetail.is_default": "Whether it signs unless an application or API resource names an "
    "algorithm.",
    "ContextUser.username": "The user's username.",
    "Register.password": "Must satisfy the tenant's password policy.",
    "SignIn.password": "The user's password.",
}

# The name of an item, by the path of its list, if the path is not the plural of the name.
SINGULARS: Final = {"logs": "log entry"}

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
    "destroy_all": "delete_all",
    "patch": "update",
    "put": "replace",
}
