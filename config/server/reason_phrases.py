"""The reason phrases of status lines, for the statuses that gunicorn's table lacks, such as 412."""

from http import HTTPStatus

from gunicorn.asgi import protocol


def complete() -> None:
    """Add the phrases of all registered statuses to gunicorn's table, which writes ``Unknown`` otherwise."""
    for status in HTTPStatus:
        protocol._REASON_PHRASES.setdefault(status.value, status.phrase)  # noqa: SLF001
