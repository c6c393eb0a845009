"""The little HTTP/1.1 that the load needs: cheap to write, cheap to read.

The generator shares the machine with what it measures, so it parses nothing it does not need.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_LOCATION: Final = re.compile(rb"\r\nlocation: *([^\r]+)", re.IGNORECASE)
_COOKIE: Final = re.compile(rb"\r\nset-cookie: *([^;\r]+)", re.IGNORECASE)


class Wrong(Exception):
    """An answer is not what a working server says, or there is none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer."""

    status: int
    head: bytes
    body: bytes

    def require(self, status: int, containing: bytes = b"") -> None:
        """Stop unless the answer has this status and says this somewhere in its body.

        Raises:
            Wrong: it has another, or does not.

        """
        if self.status != status or containing not in self.body:
            raise Wrong(f"answered {self.status}, {self.body[:200].decode(errors='replace')}")

    @property
    def location(self) -> str:
        """Where the answer redirects to."""
        match = _LOCATION.search(self.head)
        if match is None:
            raise Wrong(f"answered {self.status} without a Location")
        return match[1].decode()

    @property
    def cookies(self) -> list[str]:
        """The cookies it sets, each as ``name=value``."""
        return [pair.decode() for pair in _COOKIE.findall(self.head)]


def parse(received: bytes) -> Answer | None:
    """Return the answer once it is all there.

    Raises:
        Wrong: its end cannot be known, because it has no length.

    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = received[:end]
    length = _LENGTH.search(head)
    if length is None:
        raise Wrong("answered without a Content-Length")
    begin = end + 4
    if len(received) < begin + int(length[1]):
        return None
    return Answer(int(head[9:12]), head, received[begin:])


def get(path: str, **headers: str) -> bytes:
    """Return the bytes of a GET."""
    return _request("GET", path, headers, b"")


def post_form(path: str, form: dict[str, str], **headers: str) -> bytes:
    """Return the bytes of a POST of a form."""
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    return _request("POST", path, headers, urlencode(form).encode())


def post_json(path: str, document: bytes, **headers: str) -> bytes:
    """Return the bytes of a POST of JSON."""
    return _request("POST", path, headers | {"Content-Type": "application/json"}, document)


def put_json(path: str, document: bytes, **headers: str) -> bytes:
    """Return the bytes of a PUT of JSON."""
    return _request("PUT", path, headers | {"Content-Type": "application/json"}, document)


def _request(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "User-Agent: gatehouse-bench"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value]
    if method in {"POST", "PUT"}:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body
