"""A connection that is kept for many requests, which are sent byte for byte."""

import socket
from typing import Self
from urllib.parse import urlsplit

from tests.support.wire import Answer

KNOWN = 3  # requests, until a head is known to the worker of a connection


class Closed(ConnectionError):
    """The server has closed its side instead of answering."""


class Kept:
    """A connection to the server at an address. Answers are read one by one."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.prefix = parts.path
        self.socket = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=20)
        self._unread = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def head(self, path: str, *headers: str, method: str = "GET", version: str = "HTTP/1.1") -> bytes:
        """Return a request without a body."""
        lines = [f"{method} {self.prefix}{path} {version}", "Host: x", *headers, "", ""]
        return "\r\n".join(lines).encode()

    def send(self, *parts: bytes) -> None:
        self.socket.sendall(b"".join(parts))

    def read(self, *, has_body: bool = True) -> Answer:
        """Return the next answer.

        Raises:
            Closed: the server closed its side before the first byte of an answer.

        """
        self._unread = self._unread or self.socket.recv(65_536)
        if not self._unread:
            raise Closed
        while b"\r\n\r\n" not in self._unread:
            self._receive()
        head, _, self._unread = self._unread.partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1."), head
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        status = int(first.split()[1])
        length = int(headers.get("content-length", 0)) if has_body and status not in {204, 304} else 0
        while len(self._unread) < length:
            self._receive()
        body, self._unread = self._unread[:length], self._unread[length:]
        return Answer(status, headers, body)

    def get(self, path: str, *headers: str) -> Answer:
        self.send(self.head(path, *headers))
        return self.read()

    def end(self) -> None:
        """Close our side."""
        self.socket.shutdown(socket.SHUT_WR)

    def is_closed(self) -> bool:
        """Say whether the server closes its side, without another byte."""
        return not self._unread and self.socket.recv(1) == b""

    def _receive(self) -> None:
        part = self.socket.recv(65_536)
        assert part, f"the server closed its side after {self._unread!r}"
        self._unread += part


def warm(connection: Kept, path: str = "/.well-known/jwks.json", *headers: str) -> Answer:
    """Request a document until its head is known, and return the last answer."""
    return [connection.get(path, *headers) for _ in range(KNOWN)][-1]
