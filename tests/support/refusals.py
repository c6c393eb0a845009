"""Refusals of the token endpoint, and of the endpoint that revokes tokens."""

import httpx


def refusal(answer: httpx.Response) -> tuple[int, str]:
    """Return status and error word of an answer that must hold no token."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.status_code, body["error"]
