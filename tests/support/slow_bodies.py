"""Requests with a large body, of which the end comes after something else has happened."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import urlsplit

LARGE = 100_000  # bytes; the rest of a body of this size is read by a thread
_FIRST = 70_000


def send(
    method: str, address: str, headers: Mapping[str, str], body: bytes, meanwhile: Callable[[], object]
) -> tuple[int, dict[str, str], str]:
    """Send most of a body, do something else, send the rest, and return the answer."""
    parts = urlsplit(address)
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=30)) as http:
        http.putrequest(method, parts.path)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            http.putheader(name, value)
        http.endheaders(body[:_FIRST])
        time.sleep(1)  # for the server to read who sends it
        meanwhile()
        http.send(body[_FIRST:])
        response = http.getresponse()
        return response.status, dict(response.getheaders()), response.read().decode()
