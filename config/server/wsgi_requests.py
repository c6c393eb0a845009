"""Requests as Django's handler expects them (WSGI, PEP 3333), from those of gunicorn's protocol (ASGI)."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache
from io import BufferedReader, BytesIO, RawIOBase
from types import TracebackType
from typing import Any, BinaryIO, Final, Self
from urllib.parse import unquote_to_bytes

from gunicorn.util import split_request_uri

from identity.http.bodies import SMALL

_SMALL_SECONDS: Final = 30  # for a client to send a body that is read before the request gets a thread
_LARGE_SECONDS: Final = 60  # for a client to send a larger one
_LONGEST_KEPT: Final = 64  # bytes of the names of headers that are kept in memory

FAILURE: Final = "gatehouse.failure"  # the key of a ``Failure``

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Failure:
    """The exception of a surface or of a document's read. Django's handler raises it in place of the view.

    Several requests can raise it. Each of them begins with the traceback that the exception had first.
    """

    error: BaseException
    traceback: TracebackType | None

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Return a failure with the traceback that the exception has now."""
        return cls(error, error.__traceback__)

    def again(self) -> BaseException:
        """Return the exception, to be raised."""
        return self.error.with_traceback(self.traceback)


class _Arriving(RawIOBase):
    """A body that is still arriving. The thread that reads it waits for the client."""

    def __init__(self, start: bytes, receive: Receive) -> None:
        self._waiting = memoryview(start)
        self._receive: Final = receive
        self._loop: Final = asyncio.get_running_loop()
        self._until: float | None = None  # counts from the first read, because no thread may be free
        self._has_more = True

    def readable(self) -> bool:
        """Return true."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill the buffer with what has arrived, at least one byte, and return how much it is; 0 at the end.

        Raises:
            OSError: the client has disconnected, or is too slow.

        """
        while not self._waiting and self._has_more:
            message = asyncio.run_coroutine_threadsafe(self._get(), self._loop).result()
            if message["type"] != "http.request":
                raise ConnectionResetError("the client has disconnected")
            self._waiting, self._has_more = memoryview(message["body"]), message["more_body"]
        size = min(len(buffer), len(self._waiting))
        buffer[:size] = self._waiting[:size]
        self._waiting = self._waiting[size:]
        return size

    async def _get(self) -> Message:
        if self._until is None:
            self._until = self._loop.time() + _LARGE_SECONDS
        async with asyncio.timeout_at(self._until):
            return await self._receive()


def is_arriving(body: BinaryIO) -> bool:
    """Return whether a thread that reads this body may have to wait for the client."""
    return isinstance(body, BufferedReader)


async def read_body(scope: Message, receive: Receive) -> BinaryIO | None:
    """Return the body of a request, or None if the client does not send it.

    A small body is read before the request gets a thread. The thread reads a large body itself, after it has
    decided that the client may send one.
    """
    length = _get_length(scope)
    if length == 0:
        return BytesIO()
    body, has_more = b"", length is None or length <= SMALL
    try:
        async with asyncio.timeout(_SMALL_SECONDS):
            while has_more and len(body) <= SMALL:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message["body"]
                has_more = message["more_body"]
    except TimeoutError:
        return None
    is_complete = not has_more and (length is None or length <= SMALL)
    return BytesIO(body) if is_complete else BufferedReader(_Arriving(body, receive))


def _get_length(scope: Message) -> int | None:
    """Return the length of the body, or None if it is sent in chunks. A request with both is refused."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return int(value)
        if name == b"transfer-encoding":
            return None
    return 0


def build_environ(scope: Message, body: BinaryIO) -> dict[str, Any]:
    """Return the environment of a request.

    Headers with ``_`` in their name are dropped, because WSGI has the same key for ``X_Forwarded_For`` as for
    ``X-Forwarded-For``. The values of a header that comes several times are joined.
    """
    path, query = _split(scope)
    client, port = scope["client"] or ("", "")  # a socket without addresses
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query,
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "SERVER_NAME": scope["server"][0],
        "SERVER_PORT": str(scope["server"][1]),
        "REMOTE_ADDR": client,
        "REMOTE_PORT": str(port),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": body,
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    for header, value in scope["headers"]:
        name = _get_name(header)
        if name is not None:
            text = value.decode("latin-1")
            environ[name] = f"{environ[name]},{text}" if name in environ else text
    return environ


def _get_name(header: bytes) -> str | None:
    """Return the name that a header has in the environment, or None if it is dropped."""
    return _get_kept_name(header) if len(header) <= _LONGEST_KEPT else _build_name(header)


def _build_name(header: bytes) -> str | None:
    if b"_" in header:
        return None
    name = header.decode("latin-1").upper().replace("-", "_")
    return name if name in {"CONTENT_TYPE", "CONTENT_LENGTH"} else f"HTTP_{name}"


_get_kept_name: Final = lru_cache(maxsize=512)(_build_name)


def _split(scope: Message) -> tuple[str, str]:
    """Return the path, still encoded, and the query, of any form of a target (RFC 9112 section 3.2)."""
    path, query = scope["raw_path"].decode("latin-1"), scope["query_string"].decode("latin-1")
    if path.startswith("/"):
        return path, query
    parts = split_request_uri(f"{path}?{query}")
    return parts.path, parts.query
