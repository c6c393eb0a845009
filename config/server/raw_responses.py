"""Responses as bytes, for requests that are answered without gunicorn's messages (ASGI)."""

from gunicorn.asgi import protocol

from identity.http.answers import Answer


def build(answer: Answer, method: str, version: tuple[int, int], *, close: bool) -> bytes:
    """Return the response to a request with this method and version of HTTP. ``answer`` is complete.

    ``close`` announces that the connection ends.
    """
    response = (
        protocol._get_cached_status_line(version, answer.status),  # noqa: SLF001
        "".join(f"{name}: {value}\r\n" for name, value in answer.headers.items()).encode("latin-1"),
        protocol._CACHED_SERVER_HEADER,  # noqa: SLF001
        protocol._get_cached_date_header(),  # noqa: SLF001
        b"Connection: close\r\n\r\n" if close else b"\r\n",
        b"" if method == "HEAD" else answer.body,
    )
    return b"".join(response)
