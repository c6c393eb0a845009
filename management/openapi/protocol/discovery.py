"""Discovery (OpenID Connect Discovery 1.0, RFC 8414) and the key set."""

from typing import Final

from management.openapi.protocol.parts import TEXT, UNAVAILABLE, UNKNOWN_TENANT, json_response
from management.openapi.responses import ETAG, Schema

_ENDPOINTS: Final = {
    "issuer": "",
    "authorization_endpoint": "/oidc/authorize",
    "token_endpoint": "/oidc/token",
    "userinfo_endpoint": "/oidc/userinfo",
    "revocation_endpoint": "/oidc/revoke",
    "end_session_endpoint": "/oidc/end-session",
    "jwks_uri": "/.well-known/jwks.json",
}
_DISCOVERY: Final = json_response(
    "The discovery document, as plain JSON.",
    {"type": "object", "required": list(_ENDPOINTS), "properties": dict.fromkeys(_ENDPOINTS, TEXT)},
    {name: f"https://id.example.com{path}" for name, path in _ENDPOINTS.items()},
)
_KEY: Final = {
    "kty": "EC",
    "crv": "P-256",
    "kid": "01890a5d-ac96-774b-bcce-b302099a8057",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
    "use": "sig",
    "alg": "ES256",
}
_REQUIRED: Final = ["kty", "kid", "use", "alg"]
_MEMBERS: Final = [*_KEY, "n", "e"]  # a key has those of its kind
_KEYS: Final = json_response(
    "Every key that can verify tokens. The active keys come first.",
    {
        "type": "object",
        "required": ["keys"],
        "properties": {
            "keys": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": _REQUIRED,
                    "properties": dict.fromkeys(_MEMBERS, TEXT),
                },
            }
        },
    },
    {"keys": [_KEY]},
)


def _operation(name: str, summary: str, response: Schema) -> dict[str, Schema]:
    return {
        "get": {
            "operationId": name,
            "tags": ["Discovery"],
            "summary": summary,
            "security": [],
            "responses": {
                "200": response | {"headers": {"ETag": ETAG | {"description": "The version."}}},
                "404": UNKNOWN_TENANT,
                "503": UNAVAILABLE,
            },
        }
    }


PATHS: Final[dict[str, Schema]] = {
    "/.well-known/openid-configuration": _operation("discovery", "Get the discovery document", _DISCOVERY),
    "/.well-known/oauth-authorization-server": _operation(
        "metadata", "Get the discovery document, for OAuth clients (RFC 8414)", _DISCOVERY
    ),
    "/.well-known/jwks.json": _operation("jwks", "Get the public keys", _KEYS),
    "/oidc/.well-known/openid-configuration": _operation(
        "discovery_below", "Get the discovery document, for clients configured with …/oidc", _DISCOVERY
    ),
}
