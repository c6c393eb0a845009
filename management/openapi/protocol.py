"""The paths of OAuth and OpenID Connect, which are no views of the API: described by hand."""

from typing import Any, Final

from management.openapi.answers import ETAG, JSON, Schema

FORM: Final = "application/x-www-form-urlencoded"
HTML: Final = "text/html"
_TEXT: Final[Schema] = {"type": "string"}
_OPENID: Final = ["OpenID Connect"]
_CLIENT: Final[list[dict[str, list[str]]]] = [{"client": []}, {}]
_USER: Final[list[dict[str, list[str]]]] = [{"userToken": []}]

_ASKED: Final[dict[str, tuple[str, Any]]] = {
    "client_id": ("The application.", "4f7c1d0e9a"),
    "redirect_uri": (
        "One of the addresses registered for the application.",
        "https://app.example.com/callback",
    ),
    "response_type": ("Always `code`.", "code"),
    "scope": ("Space-separated; `openid` among them.", "openid profile email offline_access"),
    "state": ("Comes back unchanged.", "af0ifjsldkj"),
    "nonce": ("Comes back in the ID token.", "n-0S6_WzA2Mj"),
    "code_challenge": (
        "The base64url of the SHA-256 of the verifier.",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ),
    "code_challenge_method": ("Always `S256`.", "S256"),
    "prompt": ("`none`, `login`, `consent` or `select_account`.", "login"),
    "response_mode": ("`query` or `fragment`.", "query"),
    "max_age": ("How many seconds ago the person may have signed in.", "3600"),
    "login_hint": ("What the identifier field is filled with.", "ada"),
    "id_token_hint": ("An earlier ID token of the person.", None),
    "resource": ("The API resource that the tokens are for.", "https://api.example.com"),
    "organization_id": ("The organization that the tokens are for.", "01890a5d-ac96-774b-bcce-b302099a8057"),
}
_NEEDED: Final = ("client_id", "redirect_uri", "response_type", "scope")
_LEAVING: Final[dict[str, tuple[str, Any]]] = {
    "id_token_hint": ("An ID token of who signs out. It may have expired.", None),
    "client_id": ("The application, where there is no hint.", "4f7c1d0e9a"),
    "post_logout_redirect_uri": ("Where the browser goes afterwards.", "https://app.example.com/"),
    "state": ("Comes back unchanged.", "af0ifjsldkj"),
}
_TOKEN: Final[dict[str, tuple[str, Any]]] = {
    "grant_type": ("`authorization_code`, `refresh_token` or `client_credentials`.", "client_credentials"),
    "code": ("The code, for `authorization_code`.", None),
    "redirect_uri": ("As it was in the authorization request.", None),
    "code_verifier": ("What the challenge was made of: 43 to 128 characters.", None),
    "refresh_token": ("The refresh token, for `refresh_token`.", None),
    "scope": ("Narrows what is granted.", "all"),
    "resource": ("The API resource that the token is for.", "urn:service:management-api:default"),
    "organization_id": ("The organization that the token is for.", None),
    "client_id": ("The application, where it does not come with Basic.", None),
    "client_secret": ("Its secret, likewise.", None),
}


def paths() -> dict[str, Schema]:
    """Describe them all."""
    return {
        "/.well-known/openid-configuration": {
            "get": _public("discovery", "Describe the provider", _DISCOVERY)
        },
        "/.well-known/oauth-authorization-server": {
            "get": _public("metadata", "Describe the provider to clients of plain OAuth", _DISCOVERY)
        },
        "/.well-known/jwks.json": {"get": _public("jwks", "List the public keys", _KEYS)},
        "/oidc/.well-known/openid-configuration": {
            "get": _public(
                "discovery_below", "Describe the provider to clients that look below /oidc", _DISCOVERY
            )
        },
        "/oidc/authorize": {"get": _authorize("get"), "post": _authorize("post")},
        "/oidc/authorize/{request_id}": {"get": _RESUME},
        "/oidc/token": {"post": _TOKEN_OPERATION},
        "/oidc/revoke": {"post": _REVOKE},
        "/oidc/userinfo": {"get": _userinfo("get"), "post": _userinfo("post")},
        "/oidc/end-session": {"get": _end_session("get"), "post": _end_session("post")},
    }


def shapes() -> dict[str, Schema]:
    """Describe the bodies."""
    return {
        "OAuthRefusal": {
            "type": "object",
            "required": ["error", "error_description"],
            "properties": {"error": _TEXT, "error_description": _TEXT},
        },
        "Tokens": {
            "type": "object",
            "required": ["access_token", "token_type", "expires_in", "scope"],
            "properties": {
                "access_token": _TEXT,
                "token_type": {"type": "string", "const": "Bearer"},
                "expires_in": {"type": "integer", "description": "Seconds."},
                "scope": {"type": "string", "description": "What was granted."},
                "refresh_token": {"type": "string", "description": "With `offline_access`, and only then."},
                "id_token": {"type": "string", "description": "With `openid`, and only then."},
            },
        },
        "Claims": {
            "type": "object",
            "description": "What the scopes of the token release. Claims without a value are left out.",
            "required": ["sub"],
            "properties": {
                "sub": _TEXT,
                **dict.fromkeys(("name", "username", "picture", "gender", "email", "phone_number"), _TEXT),
                "updated_at": {"type": "integer", "description": "Seconds since 1970."},
                "email_verified": {"type": "boolean"},
                "phone_number_verified": {"type": "boolean"},
                "organizations": {"type": "array", "items": _TEXT},
                "organization_roles": {
                    "type": "array",
                    "items": _TEXT,
                    "description": "`<organization id>:<role>`",
                },
                "organization_id": _TEXT,
                "organization_is_admin": {"type": "boolean"},
            },
        },
    }


def _json(text: str, schema: Schema, example: Any, **headers: Schema) -> Schema:
    answer: Schema = {"description": text, "content": {JSON: {"schema": schema, "example": example}}}
    return answer | ({"headers": headers} if headers else {})


def _refusal(text: str, error: str, **headers: Schema) -> Schema:
    body = {"error": error, "error_description": text}
    return _json(text, {"$ref": "#/components/schemas/OAuthRefusal"}, body, **headers)


def _page(text: str) -> Schema:
    return {"description": text, "content": {HTML: {"schema": _TEXT}}}


def _leads(text: str) -> Schema:
    location = {"description": "Where the browser goes.", "required": True, "schema": _TEXT}
    return {"description": text, "headers": {"Location": location}}


_CHALLENGE: Final = {"WWW-Authenticate": {"description": "How to come in.", "schema": _TEXT}}
_RETRY: Final = {"Retry-After": {"description": "How many seconds to wait.", "schema": _TEXT}}
_AWAY: Final = _refusal("The service cannot reach its database.", "temporarily_unavailable", **_RETRY)
_AWAY_PAGE: Final = _page("The service cannot reach its database.")


def _query(names: dict[str, tuple[str, Any]], required: tuple[str, ...] = ()) -> list[Schema]:
    return [
        {"name": name, "in": "query", "required": name in required, "description": text, "schema": _TEXT}
        | ({"example": example} if example else {})
        for name, (text, example) in names.items()
    ]


def _form(
    names: dict[str, tuple[str, Any]], required: tuple[str, ...] = (), *, needed: bool = True
) -> Schema:
    schema: Schema = {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, (text, _) in names.items()},
    }
    if required:
        schema["required"] = list(required)
    sample = {name: example for name, (_, example) in names.items() if example}
    return {"required": needed, "content": {FORM: {"schema": schema, "example": sample}}}


def _authorize(method: str) -> Schema:
    sent: Schema = (
        {"parameters": _query(_ASKED, _NEEDED)}
        if method == "get"
        else {"requestBody": _form(_ASKED, _NEEDED)}
    )
    return {
        "operationId": f"authorize_{method}",
        "tags": _OPENID,
        "summary": "Ask for a code" if method == "get" else "Ask for a code, by a form",
        "description": "The browser is sent here. It comes back to `redirect_uri` with `code`, `state` and "
        "`iss`, or with `error`; a person may have to sign in first.",
        "security": [],
        **sent,
        "responses": {
            "303": _leads("Back to the application, or to the page where a person signs in."),
            "400": _page("The application or its `redirect_uri` is unknown: a page says so."),
            "404": _page("There is no such tenant."),
            **({"413": _page("The form is too long.")} if method == "post" else {}),
            "503": _AWAY_PAGE,
        },
    }


_RESUME: Final[Schema] = {
    "operationId": "authorize_resume",
    "tags": _OPENID,
    "summary": "Go on with a request that waited for a person",
    "security": [{"browser": []}],
    "parameters": [
        {
            "name": "request_id",
            "in": "path",
            "required": True,
            "description": "The id of the request that waited, as `interaction` in the page's address.",
            "schema": {"type": "string", "format": "uuid"},
            "example": "01890a5d-ac96-774b-bcce-b302099a8057",
        }
    ],
    "responses": {
        "303": _leads("Back to the application, or to the next page."),
        "400": _page("It is over, or belongs to another browser: a page says so."),
        "404": _page("There is nothing here."),
        "503": _AWAY_PAGE,
    },
}

_TOKEN_OPERATION: Final[Schema] = {
    "operationId": "token",
    "tags": _OPENID,
    "summary": "Get tokens",
    "description": "Exchanges a code, a refresh token or the application's own credentials. Applications "
    "that run on people's devices send no secret.",
    "security": _CLIENT,
    "requestBody": _form(_TOKEN, ("grant_type",)),
    "responses": {
        "200": _json(
            "Tokens.",
            {"$ref": "#/components/schemas/Tokens"},
            {"access_token": "eyJ…", "token_type": "Bearer", "expires_in": 3600, "scope": "all"},
        ),
        "400": _refusal("The grant is not good, or the request makes no sense.", "invalid_grant"),
        "401": _refusal(
            "The client is unknown or its credentials are wrong.", "invalid_client", **_CHALLENGE
        ),
        "404": _refusal("There is no such tenant.", "invalid_request"),
        "413": _refusal("The body is larger than 1 MiB.", "invalid_request"),
        "415": _refusal("The content type is not that of a form.", "invalid_request"),
        "429": _refusal("Too many of these in a short time.", "temporarily_unavailable", **_RETRY),
        "503": _AWAY,
    },
}

_REVOKE: Final[Schema] = {
    "operationId": "revoke",
    "tags": _OPENID,
    "summary": "Take a token back",
    "description": "Answers 200 whatever the token was.",
    "security": _CLIENT,
    "requestBody": _form(
        {
            "token": ("The token.", "eyJ…"),
            "token_type_hint": ("`access_token` or `refresh_token`.", "access_token"),
            "client_id": ("The application, where it does not come with Basic.", None),
            "client_secret": ("Its secret, likewise.", None),
        },
        ("token",),
    ),
    "responses": {
        "200": _json("It is of no use any more.", {"type": "object"}, {}),
        "400": _refusal("The parameter token is missing.", "invalid_request"),
        **{code: _TOKEN_OPERATION["responses"][code] for code in ("401", "404", "413", "415", "503")},
    },
}


def _userinfo(method: str) -> Schema:
    body = {
        "requestBody": _form(
            {"access_token": ("The token, where it is not in the header.", None)}, needed=False
        )
    }
    return {
        "operationId": f"userinfo_{method}",
        "tags": _OPENID,
        "summary": "Get the claims about the person" if method == "get" else "Get the claims, by a form",
        "security": _USER,
        **(body if method == "post" else {}),
        "responses": {
            "200": _json(
                "Claims.",
                {"$ref": "#/components/schemas/Claims"},
                {"sub": "01890a5d-ac96-774b-bcce-b302099a8057", "name": "Ada Lovelace", "username": "ada"},
            ),
            "400": _refusal(
                "The token came twice, or the form cannot be read.", "invalid_request", **_CHALLENGE
            ),
            "401": _refusal("The access token is invalid or expired.", "invalid_token", **_CHALLENGE),
            "403": _refusal("The access token lacks the scope openid.", "insufficient_scope", **_CHALLENGE),
            "404": _refusal("There is no such tenant.", "invalid_request"),
            "413": _refusal("The body is larger than 1 MiB.", "invalid_request"),
            "503": _AWAY,
        },
    }


def _end_session(method: str) -> Schema:
    sent: Schema = (
        {"parameters": _query(_LEAVING)}
        if method == "get"
        else {"requestBody": _form(_LEAVING, needed=False)}
    )
    return {
        "operationId": f"end_session_{method}",
        "tags": _OPENID,
        "summary": "Sign out" if method == "get" else "Sign out, by a form",
        "description": "With an `id_token_hint` of this browser's session at once, else after asking.",
        "security": [],
        **sent,
        "responses": {
            "200": _page("A page that asks, or says that it is done."),
            "303": _leads("Back to the application."),
            "400": _page("The hint is forged or the address is not registered: a page says so."),
            "404": _page("There is no such tenant."),
            "503": _AWAY_PAGE,
        },
    }


def _public(name: str, summary: str, answer: Schema) -> Schema:
    return {
        "operationId": name,
        "tags": ["Discovery"],
        "summary": summary,
        "security": [],
        "responses": {
            "200": answer | {"headers": {"ETag": ETAG | {"description": "The version."}}},
            "404": _refusal("There is no such tenant.", "invalid_request"),
            "503": _AWAY,
        },
    }


_ADDRESSES: Final = {
    "issuer": "",
    "authorization_endpoint": "/oidc/authorize",
    "token_endpoint": "/oidc/token",
    "userinfo_endpoint": "/oidc/userinfo",
    "revocation_endpoint": "/oidc/revoke",
    "end_session_endpoint": "/oidc/end-session",
    "jwks_uri": "/.well-known/jwks.json",
}
_DISCOVERY: Final = _json(
    "The discovery document, plain JSON.",
    {"type": "object", "required": list(_ADDRESSES), "properties": dict.fromkeys(_ADDRESSES, _TEXT)},
    {name: f"https://id.example.com{path}" for name, path in _ADDRESSES.items()},
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
_KEYS: Final = _json(
    "Every key whose tokens verify, the active one first.",
    {
        "type": "object",
        "required": ["keys"],
        "properties": {
            "keys": {
                "type": "array",
                "items": {"type": "object", "required": list(_KEY), "properties": dict.fromkeys(_KEY, _TEXT)},
            }
        },
    },
    {"keys": [_KEY]},
)
