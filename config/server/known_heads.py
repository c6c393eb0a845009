"""Heads of requests for documents, byte for byte, so that an equal head need not be parsed again."""

from typing import Any, Final

from config.server.documents import Wanted

_MOST_HEADS: Final = 512
_MOST_BYTES: Final = 2_048  # of a head
_SECRET: Final = frozenset({b"authorization", b"cookie", b"proxy-authorization"})


class KnownHeads:
    """What the requests of this worker asked for, by their bytes."""

    def __init__(self) -> None:
        self._wanted: Final[dict[bytes, Wanted]] = {}
        self.find: Final = self._wanted.get

    def add(self, head: bytes, request: Any, wanted: Wanted) -> None:
        """Keep a head that is not long, unless it has a secret."""
        if len(head) > _MOST_BYTES or any(name in _SECRET for name, _ in request.headers_bytes):
            return
        if len(self._wanted) >= _MOST_HEADS:
            self._wanted.clear()
        self._wanted[head] = wanted
