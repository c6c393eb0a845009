"""The part of HTTP/1.1 that the load generator needs.

The generator shares the processors with the server, so it parses only what it needs.
"""

import re
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

_LENGTH: Final = re.compile(rb"\r\ncontent-length: *([0-9]+)", re.IGNORECASE)
_LOCATION: Final = re.compile(rb"\r\nlocation: *([^\r]+)", re.IGNORECASE)
_COOKIE: Final = re.compile(rb"\r\nset-cookie: *([^;\r]+)", re.IGNORECASE)


class UnexpectedAnswer(Exception):
    """The server gave another answer than a working server would, or none."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A complete answer."""

    status: int
    head: bytes
    body: bytes

    def require(self, status: int, containing: bytes = b"") -> None:
        """Check the status and a part of the body.

        Raises:
            UnexpectedAnswer: one of them is different.

        """
        if self.status != status or containing not in self.body:
            raise UnexpectedAnswer(f"answered {self.status}, {self.body[:200].decode(errors='replace')}")

    @property
    def location(self) -> str:
        """The address of the redirect."""
        match = _LOCATION.search(self.head)
        if match is None:
            raise UnexpectedAnswer(f"answered {self.status} without a Location")
        return match[1].decode()

    @property
    def cookies(self) -> list[str]:
        """The cookies that the answer sets, each as ``name=value``."""
        return [pair.decode() for pair in _COOKIE.findall(self.head)]


def parse(received: bytes) -> Answer | None:
    """Return the answer, or None while a part of it is missing.

    Raises:
        UnexpectedAnswer: the answer has no Content-Length, so its end is unknown.

    """
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return None
    head = received[:end]
    length = _LENGTH.search(head)
    if length is None:
        raise UnexpectedAnswer("answered without a Content-Length")
    body = received[end + 4 :]
    return Answer(int(head[9:12]), head, body) if len(body) >= int(length[1]) else None


def get(path: str, **headers: str) -> bytes:
    return _request("GET", path, headers, b"")


def post_form(path: str, form: dict[str, str], **headers: str) -> bytes:
    headers["Content-Type"] = "application/x-www-form-urlencoded"
    return _request("POST", path, headers, urlencode(form).encode())


def send_json(method: str, path: str, document: bytes, **headers: str) -> bytes:
    return _request(method, path, headers | {"Content-Type": "application/json"}, document)


def _request(method: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "User-Agent: gatehouse-bench"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value]
    if method != "GET":
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body
