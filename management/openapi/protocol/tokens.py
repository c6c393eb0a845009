"""The token, revocation and userinfo endpoints: what applications call."""

from typing import Final

from management.openapi.protocol.parts import (
    CHALLENGE,
    CLIENT,
    RETRY,
    TAGS,
    TEXT,
    UNAVAILABLE,
    UNKNOWN_TENANT,
    Parameters,
    form,
    json_response,
    refusal,
)
from management.openapi.responses import Schema

_JWT: Final = "application/jwt"
_CREDENTIALS: Final[Parameters] = {
    "client_id": ("The application's client id, unless it is sent with HTTP Basic authentication.", None),
    "client_secret": ("The application's secret, unless it is sent with HTTP Basic authentication.", None),
}
_TOKEN: Final[Parameters] = {
    "grant_type": ("`authorization_code`, `refresh_token` or `client_credentials`.", "client_credentials"),
    "code": ("The code, for `authorization_code`.", None),
    "redirect_uri": ("The `redirect_uri` of the authorization request, for `authorization_code`.", None),
    "code_verifier": ("The PKCE code verifier, 43 to 128 characters, for `authorization_code`.", None),
    "refresh_token": ("The refresh token, for `refresh_token`.", None),
    "scope": ("Space-separated scopes, a subset of the granted ones. Default: all of them.", "all"),
    "resource": ("The API resource that the token is for.", "urn:service:management-api:default"),
    "organization_id": ("The organization that the token is for.", None),
    **_CREDENTIALS,
}

_TOKEN_OPERATION: Final[Schema] = {
    "operationId": "token",
    "tags": TAGS,
    "summary": "Get tokens",
    "description": "Exchanges an authorization code, a refresh token or the application's own credentials "
    "for tokens. Public clients (SPA and Native) send no secret.",
    "security": CLIENT,
    "requestBody": form(_TOKEN, ("grant_type",)),
    "responses": {
        "200": json_response(
            "The tokens.",
            {"$ref": "#/components/schemas/Tokens"},
            {"access_token": "eyJ…", "token_type": "Bearer", "expires_in": 3600, "scope": "all"},
        ),
        "400": refusal("The grant is invalid, or the request is malformed.", "invalid_grant"),
        "401": refusal("The client is unknown or its credentials are wrong.", "invalid_client", **CHALLENGE),
        "404": UNKNOWN_TENANT,
        "413": refusal("The body is larger than 1 MiB.", "invalid_request"),
        "415": refusal("The content type is not application/x-www-form-urlencoded.", "invalid_request"),
        "429": refusal("Too many requests in a short time.", "temporarily_unavailable", **RETRY),
        "503": UNAVAILABLE,
    },
}

_REVOKE: Final[Schema] = {
    "operationId": "revoke",
    "tags": TAGS,
    "summary": "Revoke a token",
    "description": "The response is 200 whether or not the token was valid.",
    "security": CLIENT,
    "requestBody": form(
        {
            "token": ("The token.", "eyJ…"),
            "token_type_hint": ("`access_token` or `refresh_token`.", "access_token"),
            **_CREDENTIALS,
        },
        ("token",),
    ),
    "responses": {
        "200": json_response("The token is revoked, or was not valid.", {"type": "object"}, {}),
        "400": refusal("The parameter token is missing.", "invalid_request"),
        **{code: _TOKEN_OPERATION["responses"][code] for code in ("401", "404", "413", "415", "503")},
    },
}


def _userinfo(method: str) -> Schema:
    claims = json_response(
        "The claims of the user. An application that names `userinfo_signed_response_alg` gets a JWT.",
        {"$ref": "#/components/schemas/Claims"},
        {"sub": "01890a5d-ac96-774b-bcce-b302099a8057", "name": "Ada Lovelace", "username": "ada"},
    )
    claims["content"][_JWT] = {"schema": TEXT, "example": "eyJ…"}
    body = {
        "requestBody": form(
            {"access_token": ("The access token, unless it is in the header.", None)}, is_body_required=False
        )
    }
    return {
        "operationId": f"userinfo_{method}",
        "tags": TAGS,
        "summary": "Get the user's claims" + (" with a form" if method == "post" else ""),
        "security": [{"userToken": []}],
        **(body if method == "post" else {}),
        "responses": {
            "200": claims,
            "400": refusal(
                "The token was sent twice, or the form is malformed.", "invalid_request", **CHALLENGE
            ),
            "401": refusal("The access token is invalid or expired.", "invalid_token", **CHALLENGE),
            "403": refusal("The access token lacks the scope openid.", "insufficient_scope", **CHALLENGE),
            "404": UNKNOWN_TENANT,
            "413": refusal("The body is larger than 1 MiB.", "invalid_request"),
            "503": UNAVAILABLE,
        },
    }


PATHS: Final[dict[str, Schema]] = {
    "/oidc/token": {"post": _TOKEN_OPERATION},
    "/oidc/revoke": {"post": _REVOKE},
    "/oidc/userinfo": {"get": _userinfo("get"), "post": _userinfo("post")},
}

SCHEMAS: Final[dict[str, Schema]] = {
    "OAuthRefusal": {
        "type": "object",
        "required": ["error", "error_description"],
        "properties": {"error": TEXT, "error_description": TEXT},
    },
    "Tokens": {
        "type": "object",
        "required": ["access_token", "token_type", "expires_in", "scope"],
        "properties": {
            "access_token": TEXT,
            "token_type": {"type": "string", "const": "Bearer"},
            "expires_in": {"type": "integer", "description": "Lifetime of the access token, in seconds."},
            "scope": {"type": "string", "description": "The granted scopes."},
            "refresh_token": {"type": "string", "description": "Only with the scope `offline_access`."},
            "id_token": {"type": "string", "description": "Only with the scope `openid`."},
        },
    },
    "Claims": {
        "type": "object",
        "description": "The claims that the token's scopes release. Claims without a value are left out.",
        "required": ["sub"],
        "properties": {
            "sub": TEXT,
            **dict.fromkeys(
                ("name", "username", "preferred_username", "picture", "gender", "email", "phone_number"), TEXT
            ),
            "updated_at": {"type": "integer", "description": "Seconds since 1970."},
            "email_verified": {"type": "boolean"},
            "phone_number_verified": {"type": "boolean"},
            "organizations": {"type": "array", "items": TEXT},
            "organization_roles": {
                "type": "array",
                "items": TEXT,
                "description": "`<organization id>:<role>`",
            },
            "organization_id": TEXT,
            "organization_is_admin": {"type": "boolean"},
        },
    },
}
