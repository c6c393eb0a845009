"""Ends connections whose clients do not read what is sent to them."""

import asyncio
from typing import Final


class WriteProgress:
    """Aborts a transport if its client has not read anything for some seconds, while data waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport, seconds: float) -> None:
        self._loop: Final = loop
        self._transport: Final = transport
        self._seconds: Final = seconds
        self._timer: asyncio.TimerHandle | None = None

    def expect(self) -> None:
        """Begin to check, unless that has begun."""
        if self._timer is None:
            left = self._transport.get_write_buffer_size()
            self._timer = self._loop.call_later(self._seconds, self._check, left)

    def stop(self) -> None:
        """Check no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _check(self, before: int) -> None:
        """Abort if the client has read nothing since the last check."""
        self._timer = None
        if self._transport.get_write_buffer_size() >= before:
            self._transport.abort()
        else:
            self.expect()
