"""Requests to the token endpoint with any body, and its refusals."""

import re

FORM = {"Content-Type": "application/x-www-form-urlencoded"}


WORDS = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "unauthorized_client",
    "unsupported_grant_type",
}


def refusal(answer) -> tuple[int, str]:
    """Return status and error word of a refusal that has everything a refusal must have."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    assert body["error"] in WORDS
    # RFC 6749 section 5.2: printable ASCII without quote and backslash.
    assert re.fullmatch(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+", body["error_description"])
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    return answer.status_code, body["error"]


BAD = (400, "invalid_request")


def ask(world, body, **headers):
    return world.post("/oidc/token", content=body, headers=FORM | headers)
