"""The shape of an error response, by the interface that it comes from."""

import re
from dataclasses import dataclass

TRACES = re.compile(
    r"Traceback|File \"|site-packages|\.py\b|django|psycopg|sqlite|SELECT|ZeroDivision|broken on purpose",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Shape:
    """What every error has: a body in the shape of its path, and headers. It shows nothing internal."""

    status: int
    body_unlike_the_path: str | None = None
    traces: tuple[str, ...] = ()
    has_request_id: bool = True
    sniffing: str | None = "nosniff"
    caching: str | None = "no-store"
    has_its_length: bool = True


def is_envelope(answer):
    body = answer.json()
    message = body.get("message")
    return bool(message) and body == {"code": answer.status_code, "message": message, "result": ""}


def is_oauth(answer, word):
    body = answer.json()
    description = body.get("error_description")
    return bool(description) and body == {"error": word, "error_description": description}


def is_page(answer):
    return (
        answer.headers["Content-Type"].startswith("text/html")
        and "<h1>" in answer.text
        and "default-src 'none'" in answer.headers["Content-Security-Policy"]
    )


def find_shape(answer, path, word="invalid_request"):
    if path.startswith("/api/"):
        fits = is_envelope(answer)
    elif path.startswith(("/oidc/token", "/oidc/revoke", "/oidc/userinfo", "/.well-known/")):
        fits = is_oauth(answer, word)
    else:
        fits = is_page(answer)
    shown = re.sub(r"<link[^>]*>|<script[^>]*>", "", answer.text)
    return Shape(
        status=answer.status_code,
        body_unlike_the_path=None if fits else answer.text,
        traces=tuple(found.group() for found in TRACES.finditer(shown)),
        has_request_id=bool(answer.headers.get("X-Request-Id")),
        sniffing=answer.headers.get("X-Content-Type-Options"),
        caching=answer.headers.get("Cache-Control"),
        has_its_length=int(answer.headers["Content-Length"]) == len(answer.content),
    )
