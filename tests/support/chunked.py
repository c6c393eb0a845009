"""Requests whose body is sent in chunks, byte for byte."""

import socket
from urllib.parse import urlsplit


def send(address: str, path: str, body: bytes) -> bytes:
    """POST these bytes as the chunks of a form, and return what comes back."""
    parts = urlsplit(address)
    head = (
        f"POST {parts.path}{path} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\nTransfer-Encoding: chunked\r\n\r\n"
    )
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30) as connection:
        connection.sendall(head.encode() + body)
        return b"".join(iter(lambda: connection.recv(65_536), b""))
