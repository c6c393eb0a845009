"""A WSGI application that does nothing: the cost of the HTTP server alone."""

from collections.abc import Callable, Iterable

import django

django.setup()  # gunicorn's hooks expect the apps


def application(
    environ: dict[str, object], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    """Answer 200 with an empty JSON object."""
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", "2")])
    return [b"{}"]
