"""OAuth error answers in JSON: one shape, one set of words, never cached."""

import json
from typing import Final

import orjson
from django.http import HttpResponse

from identity.limits.services import TooMany

# What the interface lists for the token endpoint; everything else is said with one of these.
_WORDS: Final = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
}
_SENTENCES: Final = {
    "invalid_request": "The request lacks a parameter or has one that is not valid.",
    "invalid_client": "The client is unknown or its credentials are wrong.",
    "invalid_grant": "The code or refresh token is wrong, expired, used or was issued to another client.",
    "unauthorized_client": "The client may not use this grant type.",
    "unsupported_grant_type": ("grant_type must be authorization_code, refresh_token or client_credentials."),
}


def oauth_error(
    error: str, description: str = "", *, status: int = 400, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Answer with ``{error, error_description}``."""
    return oauth_json(
        {"error": error, "error_description": description or _SENTENCES.get(error, error)},
        status=status,
        headers=headers,
    )


def oauth_json(
    body: dict[str, object], *, status: int = 200, headers: dict[str, str] | None = None
) -> HttpResponse:
    """Answer with JSON that nobody keeps (RFC 6749 section 5.1)."""
    response = HttpResponse(orjson.dumps(body), content_type="application/json", status=status)
    response["Cache-Control"] = "no-store"
    response["Pragma"] = "no-cache"
    for name, value in (headers or {}).items():
        response[name] = value
    return response


def invalid_client(description: str = "", *, basic: bool) -> HttpResponse:
    """Answer 401, with a challenge when the client came with an Authorization header.

    RFC 6749 section 5.2: the response MUST include the header field that matches the
    authentication scheme used by the client.
    """
    challenge = {"WWW-Authenticate": 'Basic realm="gatehouse", charset="UTF-8"'} if basic else {}
    return oauth_error("invalid_client", description, status=401, headers=challenge)


def too_many_failures(refused: TooMany) -> HttpResponse:
    """Answer 429 to somebody who was wrong too often, and say when to come back."""
    return oauth_error(
        "temporarily_unavailable",
        "There were too many failed requests. Try again later.",
        status=refused.status,
        headers=refused.headers,
    )


def refusal(body: str, *, basic: bool) -> tuple[str, HttpResponse]:
    """Turn oauthlib's error body into ours; also return the word, for the audit log."""
    said = json.loads(body)
    word, description = said.get("error", "invalid_request"), said.get("error_description", "")
    if description == "Mismatching redirect URI.":
        # RFC 6749 section 5.2: a redirect URI that differs from the authorization request's
        # makes the grant invalid. oauthlib says invalid_request.
        word = "invalid_grant"
    if word not in _WORDS:
        word = "invalid_request"
    if word == "invalid_client":
        return word, invalid_client(description, basic=basic)
    return word, oauth_error(word, description)
