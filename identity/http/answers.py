"""A response that is made without Django's handler: see ``config.server.surfaces``."""

from collections.abc import Mapping
from dataclasses import dataclass
from http.client import responses as reasons


@dataclass(frozen=True, slots=True)
class Answer:
    """The body and headers of a response, without the headers that every response has."""

    body: bytes
    headers: Mapping[str, str]
    status: int = 200

    @property
    def status_line(self) -> str:
        """The status as WSGI expects it, such as ``200 OK``."""
        return f"{self.status} {reasons[self.status]}"
