"""Requests that are sent byte for byte, also those that no HTTP library sends."""

import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx


@dataclass(frozen=True)
class Answer:
    """The bytes of the answer, up to the end of the connection."""

    status: int
    headers: dict[str, str]
    body: bytes


def send(address: str, method: str, path: bytes, *headers: str, body: bytes = b"") -> Answer:
    """Send one request with exactly this path, these header lines and this body.

    ``path`` is appended to the path of ``address``.
    """
    parts = urlsplit(address)
    lines = [f"Host: {parts.netloc}", "Connection: close", f"Content-Length: {len(body)}", *headers]
    head = method.encode() + b" " + parts.path.encode() + path + b" HTTP/1.1\r\n"
    request = head + "".join(f"{line}\r\n" for line in lines).encode() + b"\r\n" + body
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    return _understood(answer)


def send_raw(address: str, request: bytes) -> bytes:
    """Send these bytes and no others, and return what comes back."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


def answers(address: str) -> bool:
    """Return whether a server answers, whatever it says."""
    try:
        httpx.get(address)
    except httpx.TransportError:
        return False
    return True


def _understood(answer: bytes) -> Answer:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *rest = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in rest)}
    return Answer(int(first.split()[1]), headers, body)
