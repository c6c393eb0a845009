"""Which changes need a proof of the administrator: tables of all routes, and of operations of the console.

A new route that writes fails a test until it is in the table, with the reason if it needs no proof. What does
the same in the console needs the proof, too.
"""

from typing import Final

from interaction.connectors.providers import registry
from interaction.experience.forms import MESSAGES
from interaction.experience.message_templates import CODES

# Operations of the console that need a proof: of second factors, and all.
OF_FACTORS: Final = ["two-step", "remove-factor", "reset-factors", "recovery-code"]
NEEDING: Final = {
    *(("user", name) for name in OF_FACTORS),
    # AP47: with these, an old sign-in could make others weaker
    ("user", "change"),
    ("user", "password"),
    ("user", "verify"),
    ("tenant", "change"),
    ("organization", "change"),
    ("connector", "change"),
    ("connector", "delete"),
    ("connector", "disable"),
    ("connector", "enable"),
    ("connector", "own-callback"),
    *(("connector", f"create-{provider.connector_id}") for provider in registry.PROVIDERS),
    ("signinexperience", "factors"),
    # AP49: a planted template would stay when the tenant sets second factors
    *(("signinexperience", f"message-{key.name}") for key in MESSAGES if key.purpose in CODES),
    ("role", "scopes"),
    ("application", "add-secret"),
    ("application", "roles"),
    ("application", "secret"),
    ("application", "sign-in-strength"),
    ("resource", "change"),
    ("resource", "delete"),
}
# Always, or in the cases that docs/api.md names.
NEEDS: Final = {
    "PATCH /users/:pk",
    "PATCH /users/:pk/password",
    "DELETE /users/:pk/locks",  # without it, the lock of second factors stays
    "POST /users/:pk/mfa-verifications",
    "DELETE /users/:pk/mfa-verifications",
    "DELETE /users/:pk/mfa-verifications/:factor_pk",
    "PATCH /users/:pk/mfa-settings",
    "POST /users/:pk/recovery-codes",
    "PUT /roles/:pk/scopes",
    "PATCH /resources/:pk",
    "DELETE /resources/:pk",
    "PATCH /organizations/:pk",
    "PATCH /applications/:pk",
    "PUT /applications/:pk/roles",
    "POST /applications/:pk/secret",
    "POST /applications/:pk/secrets",
    "POST /connectors",
    "PATCH /connectors/:pk",
    "DELETE /connectors/:pk",
    "PATCH /oidc-settings",
    "PATCH /sign-in-experience",
    "PATCH /tenants/:pk",
    "POST /administrators",
    "PATCH /administrators/:pk",
    "DELETE /administrators/:pk",
    "POST /administrator-invitations",
}
NEEDS_NONE: Final = {
    "it ends or takes away what others could use": {
        "DELETE /users/:pk",
        "PATCH /users/:pk/suspend",
        "DELETE /users/:pk/sessions",
        "DELETE /users/:pk/sessions/:session_pk",
        "DELETE /users/:pk/trusted-devices",
        "DELETE /users/:pk/trusted-devices/:device_pk",
        "DELETE /users/:pk/grants",
        "DELETE /users/:pk/grants/:grant_pk",
        "POST /users/:pk/sign-out",
        "DELETE /applications/:pk",
        "DELETE /applications/:pk/secrets/:secret_pk",
        "DELETE /applications/:pk/grants",
        "DELETE /roles/:pk",
        "DELETE /resources/:resource_pk/scopes/:pk",
        "DELETE /organization-roles/:pk",
        "DELETE /organization-permissions/:pk",
        "DELETE /organizations/:pk/applications/:application_pk",
        "DELETE /administrator-invitations/:pk",
    },
    "what it creates has no access and no rule yet, or only its own": {
        "POST /users",
        "POST /roles",
        "POST /resources",
        "POST /resources/:resource_pk/scopes",
        "POST /organizations",
        "POST /organization-roles",
        "POST /organization-permissions",
        "POST /tenants",
    },
    "it changes names, or what users may do in applications, and not how they sign in": {
        "PATCH /roles/:pk",
        "PUT /users/:pk/roles",
        "PUT /roles/:pk/users",
        "PATCH /organization-roles/:pk",
        "PUT /organization-roles/:pk/scopes",
        "PUT /organization-roles/:pk/resource-scopes",
        "POST /organizations/:pk/users",
        "PATCH /organizations/:pk/users/:user_pk",
        "PUT /organizations/:pk/users/:user_pk/roles",
        "POST /organizations/:pk/applications",
        "PUT /organizations/:pk/applications/:application_pk/roles",
        "POST /m2m/organizations/:organization_pk/members",
        "PUT /m2m/organizations/:organization_pk/members/:user_pk/roles",
    },
    "it changes nothing that is stored": {
        "POST /applications/:pk/claims-preview",
        "POST /connectors/:pk/test",
    },
    "no response has a private key": {
        "POST /signing-keys/prepare",
        "POST /signing-keys/rotate",
        "POST /signing-keys/retire",
        "DELETE /signing-keys/:pk",
    },
    "docs/security/accepted.md (AP47, AP27) gives the reason": {
        "POST /applications",
        "DELETE /tenants/:pk",
        "DELETE /organizations/:pk",
        "DELETE /organizations/:pk/users/:user_pk",
        "DELETE /m2m/organizations/:organization_pk/members/:user_pk",
    },
}
# What belongs to these routes in the console, and asks for no proof before its form is shown.
ASKED_FOR_NOTHING: Final = {
    "its own form asks for password and code": {
        "administrator change",
        "administrator create",
        "administrator delete",
        "administrator invite",
        "administrator password",
        "invitation create",
    },
    "it asks only if it would end the lock of second factors": {"user unlock"},
    "it creates a connector that is disabled": {"connector create"},
    "it changes other fields than those that need a proof": {
        *(f"application {name}" for name in ("access", "branding", "claims", "describe")),
        *(f"application {name}" for name in ("change", "grant-types", "lifetimes")),
        *(f"oidcsettings {name}" for name in ("claims", "lifetimes", "signing")),
        *(f"signinexperience {name}" for name in ("accounts", "arrange", "look", "message", "passwords")),
        *(f"signinexperience {name}" for name in ("registration", "texts", "ways")),
        "organization branding",
        "resource claims",
        "user data",
        "user profile",
    },
}
