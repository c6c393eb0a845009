"""Responses of a WSGI application (PEP 3333), as messages for gunicorn's protocol (ASGI)."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from config.server.wsgi_requests import Message, Send
from identity.http.answers import Answer

_WHOLE: Final = 262_144  # bytes of a streamed response that are sent at once: the static files of pages
_PART: Final = 65_536  # bytes, at least, of each part of a longer one
STREAM_SECONDS = 600.0  # for a client to read a response that is sent part by part


class _Connection(Protocol):
    @property
    def is_closed(self) -> bool: ...

    def end_after_response(self) -> None: ...

    def abort(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Whole:
    """A response whose body is in memory."""

    start: Message
    body: Message


def build(answer: Answer, environ: dict[str, Any]) -> Whole:
    """Return the response that sends an answer to a request."""
    start = {
        "type": "http.response.start",
        "status": answer.status,
        "headers": _encode(answer.headers.items()),
    }
    body = b"" if environ["REQUEST_METHOD"] == "HEAD" else answer.body
    return Whole(start, {"type": "http.response.body", "body": body})


def _encode(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]


class Stream:
    """Sends a response part by part, from the thread that makes the parts."""

    def __init__(self, loop: asyncio.AbstractEventLoop, send: Send, connection: _Connection) -> None:
        self._loop: Final = loop
        self._send: Final = send
        self._connection: Final = connection
        self._until = 0.0
        self._is_aborted = False

    @property
    def is_closed(self) -> bool:
        """Whether the client has left, or the response was broken off."""
        return self._is_aborted or self._connection.is_closed

    def release(self) -> None:
        """Remove the references to the connection. The stream cannot be used any more.

        The traceback of a handled error can refer to this stream until garbage is collected.
        """
        del self._connection, self._send

    def send(self, start: Message, parts: Iterable[bytes], *, ends_with_connection: bool) -> None:
        """Send a response, as fast as the client reads it, within ten minutes.

        Raises:
            ConnectionError: the client has disconnected or is too slow, or the parts end early. The
                connection ends, so the response does not look complete.

        """
        if ends_with_connection:
            self._loop.call_soon_threadsafe(self._connection.end_after_response)
        self._until = self._loop.time() + STREAM_SECONDS
        try:
            self._send_parts(start, parts)
        except ConnectionError:
            self._is_aborted = True
            self._loop.call_soon_threadsafe(self._connection.abort)
            raise

    def _send_parts(self, start: Message, parts: Iterable[bytes]) -> None:
        self._wait_for(start)
        waiting = bytearray()
        for part in parts:
            waiting += part
            if len(waiting) >= _PART:
                self._wait_for({"type": "http.response.body", "body": bytes(waiting), "more_body": True})
                waiting.clear()
        self._wait_for({"type": "http.response.body", "body": bytes(waiting)})

    def _wait_for(self, message: Message) -> None:
        asyncio.run_coroutine_threadsafe(self._send_unless_closed(message), self._loop).result()

    async def _send_unless_closed(self, message: Message) -> None:
        if self._connection.is_closed:
            raise ConnectionAbortedError("the client has disconnected")
        try:
            async with asyncio.timeout_at(self._until):
                await self._send(message)
        except TimeoutError:
            raise ConnectionAbortedError("the client reads too slowly") from None


def call(application: Callable[..., Any], environ: dict[str, Any], stream: Stream) -> Whole | None:
    """Serve a request. Return the response, or None if it was sent part by part.

    Raises:
        ConnectionError: the client disconnected before it had all parts.

    """
    start: Message = {"type": "http.response.start"}

    def start_response(status: str, headers: list[tuple[str, str]], _: object = None) -> None:
        start["status"] = int(status[:3])
        start["headers"] = _encode(headers)

    response = application(environ, start_response)
    try:
        length = _get_length(start)
        if not getattr(response, "streaming", False) or (length is not None and length <= _WHOLE):
            return Whole(start, {"type": "http.response.body", "body": b"".join(response)})
        is_old = environ["SERVER_PROTOCOL"] == "HTTP/1.0"  # which has no chunks
        stream.send(start, response, ends_with_connection=length is None and is_old)
        return None
    finally:
        if hasattr(response, "close"):
            response.close()


def _get_length(start: Message) -> int | None:
    return next((int(value) for name, value in start["headers"] if name == b"Content-Length"), None)
