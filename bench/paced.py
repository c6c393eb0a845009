"""Load that does not wait: steps begin at their moments, whether earlier ones are done or not.

Run with a job as JSON on standard input. Prints a line of JSON for each window of time: for each
stream how many steps came to what, how long they took, and what went wrong. A step that begins late,
because all clients of its stream are busy, counts from the moment when it should have begun.
"""

import json
import selectors
import sys
import time
from collections import Counter, deque
from typing import Any

from clients import ROWS, World
from load import PATIENCE, Connection, percentile
from wire import Wrong

_SPREAD = 2.0  # seconds in which connections are opened anew, so that they spread over the workers


class Stream:
    """Clients of one kind, who together do so many steps a second."""

    def __init__(self, job: dict[str, Any], port: int) -> None:
        self.name: str = job["row"]
        self.rate: float = job["rate"]
        world, self.most = World.of(job["world"]), job["clients"]
        clients = [ROWS[self.name](world, number, self.most) for number in range(self.most)]
        self.idle = deque(Connection(port, client) for client in clients)
        self.due: deque[float] = deque()
        self.next = 0.0
        self.forget()

    def forget(self) -> None:
        """Begin a new window."""
        self.came_to: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.errors: list[str] = []

    def told(self) -> dict[str, Any]:
        """Return what the window had."""
        ordered = sorted(self.latencies)
        return {
            "came_to": dict(self.came_to),
            "p50": percentile(ordered, 0.50),
            "p99": percentile(ordered, 0.99),
            "errors": len(self.errors),
            "said": self.errors[:3],
        }

    def advance(self, now: float) -> None:
        """Note all steps whose moment has come."""
        while self.next <= now:
            self.due.append(self.next)
            self.next += 1 / self.rate


class Paced:
    """All streams at work."""

    def __init__(self, streams: list[Stream]) -> None:
        self.streams = streams
        self.selector = selectors.DefaultSelector()
        self.busy: dict[Connection, Stream] = {}

    def prepare(self) -> None:
        """Let every client do what is not measured, and set the clocks."""
        for stream in self.streams:
            for connection in stream.idle:
                if not connection.client.is_somebody_new:
                    connection.prepare()
        now = time.perf_counter()
        for stream in self.streams:
            stream.next = now
            for number, connection in enumerate(stream.idle):
                connection.renew_at = now + _SPREAD * number / len(stream.idle)

    def run(self, seconds: float, *, begin: bool = True) -> None:
        """Work for so long; with ``begin`` unset, until everybody has an answer."""
        end = time.perf_counter() + seconds
        while (now := time.perf_counter()) < end and (begin or self.busy):
            for stream in self.streams if begin else ():
                stream.advance(now)
                self._begin(stream)
            upcoming = min(stream.next for stream in self.streams) - now
            for key, _ in self.selector.select(timeout=min(max(upcoming, 0.0), 0.05)):
                self._serve(key.data)
            self._lose_patience()

    def _begin(self, stream: Stream) -> None:
        while stream.due and stream.idle:
            connection = stream.idle.popleft()
            try:
                if connection.client.is_somebody_new:
                    connection.connect()
                elif connection.renew_at < time.perf_counter():
                    connection.renew()
                connection.begin()
            except OSError as error:
                stream.errors.append(f"{type(error).__name__}: {error}")
                continue
            connection.began = stream.due.popleft()
            self.busy[connection] = stream
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def _serve(self, connection: Connection) -> None:
        stream = self.busy[connection]
        try:
            latency = connection.go_on()
        except (Wrong, OSError, ValueError, KeyError) as error:
            self._release(connection)
            stream.errors.append(f"{type(error).__name__}: {error}")
            stream.came_to["wrong"] += 1
            self._renew(connection, stream)
            return
        if latency is None:
            return
        self._release(connection)
        stream.latencies.append(latency)
        stream.came_to[connection.client.came_to] += 1
        self._return(connection, stream)

    def _release(self, connection: Connection) -> None:
        self.selector.unregister(connection.socket)
        del self.busy[connection]

    def _return(self, connection: Connection, stream: Stream) -> None:
        if connection.client.is_somebody_new:
            connection.socket.close()
        stream.idle.append(connection)

    def _renew(self, connection: Connection, stream: Stream) -> None:
        """Go on with a client that met an error only if it has nothing to remember."""
        connection.forget()
        if connection.client.is_somebody_new:
            self._return(connection, stream)

    def _lose_patience(self) -> None:
        now = time.perf_counter()
        late = [one for one, stream in self.busy.items() if now - one.began > PATIENCE]
        for connection in late:
            stream = self.busy[connection]
            self._release(connection)
            stream.came_to["no answer in time"] += 1
            stream.errors.append(f"no answer within {PATIENCE:.0f} s")
            self._renew(connection, stream)


def main() -> None:
    """Do the job on standard input."""
    job = json.load(sys.stdin)
    paced = Paced([Stream(stream, job["port"]) for stream in job["streams"]])
    try:
        paced.prepare()
    except (Wrong, OSError) as error:
        sys.exit(f"before the measurement: {type(error).__name__}: {error}")
    windows = job["windows"]
    for number in range(windows):
        paced.run(job["seconds"])
        if number == windows - 1:
            paced.run(PATIENCE + 1, begin=False)
        print(json.dumps({stream.name: stream.told() for stream in paced.streams}), flush=True)
        for stream in paced.streams:
            stream.forget()


if __name__ == "__main__":
    main()
