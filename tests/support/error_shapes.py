"""The shape of an error response, by the interface that it comes from."""

import re

TRACES = re.compile(
    r"Traceback|File \"|site-packages|\.py\b|django|psycopg|sqlite|SELECT|ZeroDivision|broken on purpose",
    re.IGNORECASE,
)


def is_envelope(answer, status):
    body = answer.json()
    assert body == {"code": status, "message": body["message"], "result": ""}
    assert body["message"]


def is_oauth(answer, status, word):
    body = answer.json()
    assert body == {"error": word, "error_description": body["error_description"]}
    assert body["error_description"]


def is_page(answer, status):
    assert answer.headers["Content-Type"].startswith("text/html")
    assert "<h1>" in answer.text
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


def has_shape(answer, path, status, word="invalid_request"):
    """Check status, shape and headers of an answer, and that it shows nothing of ours inside."""
    assert answer.status_code == status, answer.text
    if path.startswith("/api/"):
        is_envelope(answer, status)
    elif path.startswith(("/oidc/token", "/oidc/revoke", "/oidc/userinfo", "/.well-known/")):
        is_oauth(answer, status, word)
    else:
        is_page(answer, status)
    assert not TRACES.search(re.sub(r"<link[^>]*>|<script[^>]*>", "", answer.text)), answer.text
    assert answer.headers["X-Request-Id"]
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Cache-Control"] == "no-store"
    assert int(answer.headers["Content-Length"]) == len(answer.content)
