"""Open-loop load: steps start at fixed times, even if earlier steps have not ended.

Runs in a process of its own with a job as JSON on standard input. Prints a line of JSON for each
window of time: the outcomes, latencies and errors of each stream. A step that starts late because
all clients of its stream are busy counts from the time when it was due.
"""

import json
import selectors
import sys
import time
from collections import Counter, deque
from typing import Any

from bench.clients import SeedData
from bench.connection import ANSWER_TIMEOUT, ERRORS, Connection, describe, statistics
from bench.workloads import WORKLOADS

_RECONNECT_SECONDS = 2.0  # in which all connections are replaced, to spread them over the workers


class Stream:
    """Clients of one kind that together start this many steps a second."""

    def __init__(self, job: dict[str, Any], port: int) -> None:
        self.name: str = job["row"]
        self.rate: float = job["rate"]
        data, count = SeedData.from_json(job["data"]), job["clients"]
        clients = [WORKLOADS[self.name](data, number, count) for number in range(count)]
        self.idle = deque(Connection(port, client) for client in clients)
        self.due: deque[float] = deque()
        self.next_at = 0.0
        self.start_window()

    def start_window(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.latencies: list[float] = []
        self.errors: list[str] = []

    def result(self) -> dict[str, Any]:
        """Return the outcomes and statistics of the window."""
        return {"outcomes": dict(self.outcomes)} | statistics(self.latencies, self.errors)

    def add_due(self, now: float) -> None:
        """Add the steps that are due."""
        while self.next_at <= now:
            self.due.append(self.next_at)
            self.next_at += 1 / self.rate


class OpenLoop:
    """All streams at work."""

    def __init__(self, streams: list[Stream]) -> None:
        self.streams = streams
        self.selector = selectors.DefaultSelector()
        self.busy: dict[Connection, Stream] = {}

    def prepare(self) -> None:
        """Run the unmeasured work of every client, and set the clocks."""
        for stream in self.streams:
            for connection in stream.idle:
                if not connection.client.has_new_connections:
                    connection.prepare()
        for stream in self.streams:
            for connection in stream.idle:
                if not connection.client.has_new_connections:
                    connection.reconnect()  # the server may have closed idle connections meanwhile
        now = time.perf_counter()
        for stream in self.streams:
            stream.next_at = now
            for number, connection in enumerate(stream.idle):
                connection.reconnect_at = now + _RECONNECT_SECONDS * number / len(stream.idle)

    def run(self, seconds: float) -> None:
        """Start steps at their times for this many seconds."""
        end = time.perf_counter() + seconds
        while (now := time.perf_counter()) < end:
            for stream in self.streams:
                stream.add_due(now)
                self._start_steps(stream)
            self._handle_answers(min(stream.next_at for stream in self.streams) - now)

    def drain(self) -> None:
        """Wait for the answers to all steps that have started."""
        while self.busy:
            self._handle_answers(0.05)

    def _handle_answers(self, timeout: float) -> None:
        for key, _ in self.selector.select(timeout=min(max(timeout, 0.0), 0.05)):
            self._handle(key.data)
        self._time_out()

    def _start_steps(self, stream: Stream) -> None:
        while stream.due and stream.idle:
            connection = stream.idle.popleft()
            try:
                if connection.client.has_new_connections:
                    connection.connect()
                elif connection.reconnect_at < time.perf_counter():
                    connection.reconnect()
                connection.start_step()
            except OSError as error:
                stream.errors.append(describe(error))
                continue
            connection.started = stream.due.popleft()
            self.busy[connection] = stream
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def _handle(self, connection: Connection) -> None:
        stream = self.busy[connection]
        try:
            latency = connection.continue_step()
        except ERRORS as error:
            self._fail(connection, "wrong", describe(error))
            return
        if latency is None:
            return
        self._release(connection)
        stream.latencies.append(latency)
        stream.outcomes[connection.client.outcome] += 1
        if connection.client.has_new_connections:
            connection.socket.close()
        stream.idle.append(connection)

    def _release(self, connection: Connection) -> None:
        self.selector.unregister(connection.socket)
        del self.busy[connection]

    def _fail(self, connection: Connection, outcome: str, message: str) -> None:
        """Count an error. The client goes on only if its next step needs nothing from the failed step."""
        stream = self.busy[connection]
        self._release(connection)
        stream.outcomes[outcome] += 1
        stream.errors.append(message)
        connection.abandon_step()
        if connection.client.has_new_connections:
            stream.idle.append(connection)

    def _time_out(self) -> None:
        now = time.perf_counter()
        for connection in [late for late in self.busy if now - late.started > ANSWER_TIMEOUT]:
            self._fail(connection, "no answer in time", f"no answer within {ANSWER_TIMEOUT:.0f} s")


def main() -> None:
    """Run the job on standard input."""
    job = json.load(sys.stdin)
    loop = OpenLoop([Stream(stream, job["port"]) for stream in job["streams"]])
    try:
        loop.prepare()
    except ERRORS as error:
        sys.exit(f"before the measurement: {describe(error)}")
    for window in range(1, job["windows"] + 1):
        loop.run(job["seconds"])
        if window == job["windows"]:
            loop.drain()
        print(json.dumps({stream.name: stream.result() for stream in loop.streams}), flush=True)
        for stream in loop.streams:
            stream.start_window()


if __name__ == "__main__":
    main()
