"""The code that mutation tests change: decisions about tokens, grants and permissions."""

from typing import Final

# The files of each group, and the tests that run first.
GROUPS: Final = {
    "codes": (
        ("oidc/provider/token/authorization_code.py", "oidc/grants/codes.py"),
        (
            "tests/oidc/test_authorization_code.py",
            "tests/oidc/test_token_steps.py",
            "tests/oidc/authorize/test_resume.py",
            "tests/security/attacks/test_consent.py",
        ),
    ),
    "bearers": (
        ("oidc/provider/bearer.py", "oidc/provider/tokens.py"),
        (
            "tests/oidc/test_userinfo.py",
            "tests/oidc/tokens",
            "tests/oidc/test_revocation.py",
            "tests/oidc/test_session_context.py",
            "tests/security/attacks/test_consent.py",
        ),
    ),
    "steps": (
        ("oidc/provider/authorization/steps.py",),
        (
            "tests/oidc/authorize/test_prompt.py",
            "tests/oidc/authorize/test_id_token_hint.py",
            "tests/oidc/authorize/test_resume.py",
            "tests/oidc/test_claims_parameter.py",
            "tests/security/attacks/test_consent.py",
            "tests/security/attacks/test_consent_context.py",
            "tests/security/attacks/test_consent_silent.py",
            "tests/security/attacks/test_relying_party_questions.py",
        ),
    ),
    "sign-out": (
        ("oidc/provider/sign_out.py", "oidc/provider/id_token_hint.py"),
        ("tests/oidc/end_session", "tests/oidc/authorize/test_id_token_hint.py"),
    ),
    "permissions": (
        (
            "management/api/permissions.py",
            "management/api/authentication.py",
            "management/administrators/support_rights.py",
            "oidc/provider/client_principal.py",
        ),
        (
            "tests/management/test_access.py",
            "tests/management/test_access_foreign_ids.py",
            "tests/management/test_members_m2m.py",
            "tests/management/administrators/test_tokens.py",
            "tests/security/attacks/test_limited_administrators.py",
        ),
    ),
    "clients": (
        (
            "oidc/provider/client_authentication.py",
            "oidc/provider/client_failures.py",
            "oidc/provider/token/client_cache.py",
        ),
        (
            "tests/oidc/test_client_authentication.py",
            "tests/oidc/test_client_failures.py",
            "tests/oidc/test_client_credentials.py",
            "tests/oidc/test_races.py",
        ),
    ),
    "checks": (
        ("oidc/provider/authorization/checks.py", "oidc/provider/authorization/request.py"),
        (
            "tests/oidc/test_authorization_checks.py",
            "tests/oidc/authorize",
            "tests/oidc/test_claims_parameter.py",
            "tests/security/attacks/test_consent.py",
        ),
    ),
    "refresh": (
        ("oidc/provider/token/refresh_token.py", "oidc/grants/families.py"),
        ("tests/oidc/test_refresh_token.py", "tests/oidc/test_revocation.py", "tests/oidc/test_races.py"),
    ),
    "targets": (
        (
            "oidc/provider/target.py",
            "oidc/provider/grant_consent.py",
            "identity/organizations/memberships.py",
        ),
        (
            "tests/oidc/test_resources_and_organizations.py",
            "tests/oidc/test_consent_upgrade.py",
            "tests/security/attacks/test_consent.py",
            "tests/security/attacks/test_consent_context.py",
            "tests/interaction/pages/test_consent.py",
        ),
    ),
    "consents": (
        ("oidc/grants/consents.py", "oidc/grants/connections.py", "oidc/grants/descriptions.py"),
        (
            "tests/oidc/test_consent_upgrade.py",
            "tests/security/attacks/test_consent.py",
            "tests/security/attacks/test_consent_context.py",
            "tests/interaction/pages/test_consent.py",
            "tests/interaction/account",
        ),
    ),
    "token endpoint": (
        (
            "oidc/provider/token/endpoint.py",
            "oidc/provider/token/engine.py",
            "oidc/provider/token/client_credentials.py",
            "oidc/provider/token/signing_key.py",
            "oidc/provider/validator.py",
            "oidc/provider/grant_context.py",
        ),
        (
            "tests/oidc/test_token_endpoint.py",
            "tests/oidc/test_token_steps.py",
            "tests/oidc/test_validator.py",
            "tests/oidc/test_client_credentials.py",
            "tests/oidc/test_key_usage.py",
            "tests/oidc/test_key_rotation.py",
        ),
    ),
    "revocation": (
        (
            "oidc/provider/revocation.py",
            "oidc/grants/revoked_tokens.py",
            "oidc/grants/expiry.py",
            "oidc/grants/user_data.py",
        ),
        (
            "tests/oidc/test_revocation.py",
            "tests/oidc/test_races.py",
            "tests/operations/test_purge.py",
            "tests/interaction/account/test_data_and_deletion.py",
        ),
    ),
    "claims": (
        (
            "oidc/provider/claims.py",
            "oidc/provider/claims_request.py",
            "oidc/provider/organizations.py",
            "oidc/provider/views/userinfo.py",
        ),
        (
            "tests/oidc/test_claims_parameter.py",
            "tests/oidc/test_userinfo.py",
            "tests/oidc/tokens/test_claims.py",
        ),
    ),
    "requests": (
        (
            "oidc/provider/parameters.py",
            "oidc/provider/cors.py",
            "oidc/grants/requests.py",
            "oidc/grants/models.py",
        ),
        (
            "tests/oidc/authorize/test_parameters.py",
            "tests/oidc/authorize/test_resume.py",
            "tests/oidc/test_token_endpoint.py",
            "tests/oidc/test_userinfo.py",
            "tests/security/attacks/test_hashes_requests.py",
        ),
    ),
    "redirect URIs": (
        ("oidc/applications/redirect_uris.py",),
        (
            "tests/oidc/test_redirect_uris.py",
            "tests/oidc/authorize/test_client_and_redirect_uri.py",
            "tests/oidc/end_session/test_targets.py",
        ),
    ),
    "responses": (
        (
            "oidc/provider/errors.py",
            "oidc/provider/error_responses.py",
            "oidc/provider/authorization/engine.py",
            "oidc/provider/views/authorize.py",
            "oidc/provider/views/end_session.py",
            "oidc/provider/views/revoke.py",
        ),
        (
            "tests/oidc/authorize",
            "tests/oidc/end_session",
            "tests/oidc/test_revocation.py",
            "tests/security/attacks/test_consent.py",
            "tests/security/attacks/test_hashes_requests.py",
        ),
    ),
    "second factors": (
        (
            "identity/factors/needed.py",
            "identity/factors/policy.py",
            "interaction/journeys/second_factor/circumstances.py",
            "interaction/journeys/second_factor/starting.py",
            "interaction/journeys/second_factor/demands.py",
            "interaction/pending_sign_ins/services.py",
        ),
        (
            "tests/identity/factors/test_needed.py",
            "tests/interaction/second_factor",
            "tests/oidc/test_step_up.py",
            "tests/oidc/test_required_factors.py",
        ),
    ),
}
# Below tests/: what should notice a change.
TESTS: Final = (
    "identity/factors/test_needed.py",
    "interaction/second_factor",
    "oidc/authorize",
    "oidc/end_session",
    "oidc/tokens",
    "oidc/test_authorization_checks.py",
    "oidc/test_authorization_code.py",
    "oidc/test_claims_parameter.py",
    "oidc/test_client_authentication.py",
    "oidc/test_client_credentials.py",
    "oidc/test_client_failures.py",
    "oidc/test_consent_upgrade.py",
    "oidc/test_redirect_uris.py",
    "oidc/test_refresh_token.py",
    "oidc/test_required_factors.py",
    "oidc/test_resources_and_organizations.py",
    "oidc/test_revocation.py",
    "oidc/test_session_context.py",
    "oidc/test_step_up.py",
    "oidc/test_token_endpoint.py",
    "oidc/test_token_steps.py",
    "oidc/test_userinfo.py",
    "security/attacks/test_consent.py",
    "security/attacks/test_consent_context.py",
    "security/attacks/test_consent_silent.py",
    "security/attacks/test_limited_administrators.py",
    "security/attacks/test_relying_party_questions.py",
    "management/test_access.py",
    "management/test_access_foreign_ids.py",
    "management/test_members_m2m.py",
    "management/administrators/test_tokens.py",
    "interaction/account/test_browsers_and_applications.py",
    "interaction/account/test_data_and_deletion.py",
    "interaction/pages/test_consent.py",
    "operations/test_metrics.py",
    "operations/test_purge.py",
)
