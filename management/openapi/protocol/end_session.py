"""The end-session endpoint (OpenID Connect RP-Initiated Logout 1.0)."""

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

_END_SESSION: Final[Parameters] = {
    "id_token_hint": ("An ID token of the user who signs out. It may have expired.", None),
    "client_id": ("The application's client id, if there is no `id_token_hint`.", "4f7c1d0e9a"),
    "post_logout_redirect_uri": (
        "The URL to redirect the browser to after sign-out. It must be registered for the application.",
        "https://app.example.com/",
    ),
    "state": ("Returned unchanged.", "af0ifjsldkj"),
}


def _end_session(method: str) -> Schema:
    request: Schema = (
        {"parameters": query(_END_SESSION)} if method == "get" else {"requestBody": form(_END_SESSION)}
    )
    return {
        "operationId": f"end_session_{method}",
        "tags": TAGS,
        "summary": "Sign out" + (" with a form" if method == "post" else ""),
        "description": "With an `id_token_hint` of this browser's session, the user is signed out at once. "
        "Otherwise a page asks for confirmation. Without a session in the browser, as from an application's "
        "server, the session that the `id_token_hint` names ends, unless the application is a third party.",
        "security": [],
        **request,
        "responses": {
            "200": page("A page that asks for confirmation, or confirms the sign-out."),
            "303": redirect("Redirects to the application."),
            "400": page(
                "An error page: the ID token is forged, too old or of another application, or the redirect "
                "URI is not registered. Nothing has ended."
            ),
            "404": UNKNOWN_TENANT_PAGE,
            **(FORM_PAGES if method == "post" else {}),
            "503": UNAVAILABLE_PAGE,
        },
    }


PATHS: Final[dict[str, Schema]] = {
    "/oidc/end-session": {"get": _end_session("get"), "post": _end_session("post")},
}
