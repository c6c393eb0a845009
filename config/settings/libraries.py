"""The settings of django-oauth-toolkit, Django REST framework and drf-spectacular."""

# ── django-oauth-toolkit ──────────────────────────────────────────────────────────────
# Gatehouse's models replace all of its models, from the first migration on.
OAUTH2_PROVIDER_APPLICATION_MODEL = "applications.Application"
OAUTH2_PROVIDER_GRANT_MODEL = "grants.AuthorizationCode"
OAUTH2_PROVIDER_REFRESH_TOKEN_MODEL = "grants.RefreshFamily"  # noqa: S105 - a model
OAUTH2_PROVIDER_ACCESS_TOKEN_MODEL = "grants.RevokedToken"  # noqa: S105 - a model
OAUTH2_PROVIDER_ID_TOKEN_MODEL = "grants.Unstored"  # noqa: S105 - a model
OAUTH2_PROVIDER_DEVICE_GRANT_MODEL = "grants.Unstored"
OAUTH2_PROVIDER = {
    "OAUTH2_VALIDATOR_CLASS": "oidc.provider.validator.Validator",
    "OIDC_ENABLED": True,
    "PKCE_REQUIRED": True,
    "ALLOWED_REDIRECT_URI_SCHEMES": ["https"],
    "REFRESH_TOKEN_REUSE_PROTECTION": True,
    "REFRESH_TOKEN_GRACE_PERIOD_SECONDS": 0,
    "DEFAULT_SCOPES": [],
    **{
        f"COMPLIANT_BCP_RFC9700_{gate}": True
        for gate in (
            "IMPLICIT_GRANT",
            "PASSWORD_GRANT",
            "PKCE_METHOD",
            "ACCESS_TOKEN_TRANSPORT",
            "AUTHZ_RESPONSE_ISS",
            "TOKEN_STORAGE",
            "REFRESH_TOKEN",
            "REDIRECT_URI_SCHEME",
            "REDIRECT_URI_MATCHING",
            "PKCE_REQUIRED",
        )
    },
}

# ── The API ───────────────────────────────────────────────────────────────────────────
REST_FRAMEWORK = {
    "DEFAULT_RENDERER_CLASSES": ["management.api.envelope.EnvelopeRenderer"],
    "DEFAULT_PARSER_CLASSES": ["management.api.parsers.StrictJSONParser"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "management.api.negotiation.StrictNegotiation",
    "EXCEPTION_HANDLER": "management.api.errors.handle",
    "DEFAULT_AUTHENTICATION_CLASSES": ["management.api.authentication.ManagementAuthentication"],
    # Access is denied by default: a view without permission classes is not public.
    "DEFAULT_PERMISSION_CLASSES": ["management.api.permissions.ManagesTenant"],
    "DEFAULT_PAGINATION_CLASS": "identity.rest.pagination.EnvelopePagination",
    "DEFAULT_METADATA_CLASS": "management.api.metadata.NoMetadata",
    "DEFAULT_SCHEMA_CLASS": "management.openapi.operations.OperationSchema",
    "UNAUTHENTICATED_USER": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "Gatehouse",
    "VERSION": "1",
    "LICENSE": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
    "OAS_VERSION": "3.1.0",
    "COMPONENT_SPLIT_REQUEST": True,
    "SORT_OPERATION_PARAMETERS": False,
    "SORT_OPERATIONS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "PREPROCESSING_HOOKS": ["management.openapi.routes.with_ids"],
    "POSTPROCESSING_HOOKS": ["management.openapi.document.complete"],
}
