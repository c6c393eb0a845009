"""A client at work on its connection, and the statistics of its latencies."""

import socket
import time
from typing import Final

from bench.clients import Client, Steps
from bench.wire import Answer, UnexpectedAnswer, parse

ANSWER_TIMEOUT: Final = 10.0  # seconds
ERRORS: Final = (UnexpectedAnswer, OSError, ValueError, KeyError)  # of a step
_CHUNK: Final = 65_536


class Connection:
    """A client and the socket it uses."""

    def __init__(self, port: int, client: Client) -> None:
        self.port = port
        self.client = client
        self.reconnect_at = float("inf")
        self.steps: Steps | None = None
        self.started = 0.0
        self.received = b""

    def prepare(self) -> None:
        """Connect and run the client's unmeasured work, one answer at a time.

        A connection is opened only when it has a request to send: the server may close an idle one.
        """
        self.connect()
        steps = self.client.prepare()
        try:
            request = next(steps)
            while True:
                self.socket.sendall(request)
                while (answer := self._receive()) is None:
                    pass
                request = steps.send(answer)
        except StopIteration:
            pass

    def connect(self) -> None:
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=ANSWER_TIMEOUT)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def reconnect(self) -> None:
        """Replace the socket by a new one."""
        self.reconnect_at = float("inf")
        self.socket.close()
        self.connect()

    def start_step(self) -> None:
        """Send the first request of the next step."""
        self.steps = self.client.step()
        self.started = time.perf_counter()
        self.socket.sendall(next(self.steps))

    def continue_step(self) -> float | None:
        """Handle received bytes. Return the seconds the step took if it ended, else None."""
        answer = self._receive()
        if answer is None or self.steps is None:
            return None
        try:
            self.socket.sendall(self.steps.send(answer))
        except StopIteration:
            self.steps = None
            return time.perf_counter() - self.started
        return None

    def abandon_step(self) -> None:
        """Close the socket and drop the unfinished step."""
        self.socket.close()
        self.steps = None
        self.received = b""

    def _receive(self) -> Answer | None:
        chunk = self.socket.recv(_CHUNK)
        if not chunk:
            raise UnexpectedAnswer("the connection was closed")
        self.received += chunk
        answer = parse(self.received)
        if answer is not None:
            self.received = b""
        return answer


def describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def statistics(latencies: list[float], errors: list[str]) -> dict[str, object]:
    """Return percentiles in milliseconds, the number of errors, and the first three."""
    ordered = sorted(latencies)
    return {
        "p50": _percentile(ordered, 0.50),
        "p99": _percentile(ordered, 0.99),
        "errors": len(errors),
        "messages": errors[:3],
    }


def _percentile(ordered: list[float], share: float) -> float:
    """Return a percentile in milliseconds by nearest rank: always a value that was measured."""
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
