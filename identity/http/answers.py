"""A response that is made without Django's handler: see ``config.server.surfaces``."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The body and headers of a response, without the headers that every response has."""

    body: bytes
    headers: Mapping[str, str]
    status: int = 200
