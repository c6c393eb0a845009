"""The authorization endpoint (RFC 6749 section 3.1)."""

from typing import Final

from management.openapi.protocol.parts import (
    FORM_PAGES,
    TAGS,
    UNAVAILABLE_PAGE,
    UNKNOWN_TENANT_PAGE,
    Parameters,
    form,
    page,
    query,
    redirect,
)
from management.openapi.responses import Schema

_AUTHORIZATION: Final[Parameters] = {
    "client_id": ("The application's client id.", "4f7c1d0e9a"),
    "redirect_uri": (
        "One of the redirect URIs registered for the application.",
        "https://app.example.com/callback",
    ),
    "response_type": ("Always `code`.", "code"),
    "scope": ("Space-separated scopes, including `openid`.", "openid profile email offline_access"),
    "state": ("Returned unchanged.", "af0ifjsldkj"),
    "nonce": ("Returned in the ID token.", "n-0S6_WzA2Mj"),
    "code_challenge": (
        "The SHA-256 of the code verifier, in base64url.",
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ),
    "code_challenge_method": ("Always `S256`.", "S256"),
    "prompt": ("`none`, `login`, `consent` or `select_account`.", "login"),
    "response_mode": ("`query`, `fragment` or `form_post`.", "query"),
    "max_age": ("The maximum age of the user's sign-in, in seconds.", "3600"),
    "login_hint": ("The identifier to prefill on the sign-in page.", "ada"),
    "id_token_hint": ("An earlier ID token of the user.", None),
    "resource": ("The API resource that the tokens are for.", "https://api.example.com"),
    "organization_id": ("The organization that the tokens are for.", "01890a5d-ac96-774b-bcce-b302099a8057"),
}
_FORM_POST: Final[Schema] = page(
    "With `response_mode=form_post`: a page whose form leads to the application."
)
_REQUIRED: Final = ("client_id", "redirect_uri", "response_type", "scope")


def _authorize(method: str) -> Schema:
    request: Schema = (
        {"parameters": query(_AUTHORIZATION, _REQUIRED)}
        if method == "get"
        else {"requestBody": form(_AUTHORIZATION, _REQUIRED)}
    )
    return {
        "operationId": f"authorize_{method}",
        "tags": TAGS,
        "summary": "Request an authorization code" + (" with a form" if method == "post" else ""),
        "description": "The application sends the browser here. The browser is redirected to `redirect_uri` "
        "with `code`, `state` and `iss`, or with `error`. With `form_post`, a page posts them there. The "
        "user may have to sign in first.",
        "security": [],
        **request,
        "responses": {
            "200": _FORM_POST,
            "303": redirect("Redirects to the application, or to the sign-in page."),
            "400": page("An error page: the application or its `redirect_uri` is unknown."),
            "404": UNKNOWN_TENANT_PAGE,
            **(FORM_PAGES if method == "post" else {}),
            "503": UNAVAILABLE_PAGE,
        },
    }


_RESUME: Final[Schema] = {
    "operationId": "authorize_resume",
    "tags": TAGS,
    "summary": "Continue a pending authorization request",
    "security": [{"browser": []}],
    "parameters": [
        {
            "name": "request_id",
            "in": "path",
            "required": True,
            "description": "The id of the pending request, which the sign-in page has as `interaction` in "
            "its URL.",
            "schema": {"type": "string", "format": "uuid"},
            "example": "01890a5d-ac96-774b-bcce-b302099a8057",
        }
    ],
    "responses": {
        "200": _FORM_POST,
        "303": redirect("Redirects to the application, or to the next page."),
        "400": page("An error page: the request has ended, or belongs to another browser."),
        "404": page("There is no such request."),
        "503": UNAVAILABLE_PAGE,
    },
}


PATHS: Final[dict[str, Schema]] = {
    "/oidc/authorize": {"get": _authorize("get"), "post": _authorize("post")},
    "/oidc/authorize/{request_id}": {"get": _RESUME},
}
