"""The load: one process, one thread, many keep-alive connections, each waiting for its answer.

Run by ``run.py`` with a job as JSON on standard input. Says ``begin`` and ``end`` around what
it measures, then the result as JSON.
"""

import json
import selectors
import socket
import sys
import time
from typing import Any, Final

from clients import ROWS, Client, Steps, World
from wire import Answer, Wrong, parse

PATIENCE: Final = 10.0  # seconds in which every answer has to come
_CHUNK: Final = 65_536


class Connection:
    """A client at work on its connection."""

    def __init__(self, port: int, client: Client) -> None:
        self.port = port
        self.client = client
        self.renew_at = float("inf")
        self.steps: Steps | None = None
        self.began = 0.0
        self.received = b""

    def prepare(self) -> None:
        """Connect, and run what is not measured, waiting for each answer.

        No connection is opened before it has something to say: the server gives a silent
        one a thread for some seconds.
        """
        self.connect()
        steps = self.client.prepare()
        try:
            request = next(steps)
            while True:
                self.socket.sendall(request)
                while (answer := self._received()) is None:
                    pass
                request = steps.send(answer)
        except StopIteration:
            pass

    def connect(self) -> None:
        """Open the connection."""
        self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def renew(self) -> None:
        """Open another connection in place of this one."""
        self.renew_at = float("inf")
        self.socket.close()
        self.connect()

    def begin(self) -> None:
        """Begin the next step."""
        self.steps = self.client.step()
        self.began = time.perf_counter()
        self.socket.sendall(next(self.steps))

    def go_on(self) -> float | None:
        """Take what has come. Return the seconds that the step took, if that was its end."""
        answer = self._received()
        if answer is None or self.steps is None:
            return None
        try:
            self.socket.sendall(self.steps.send(answer))
        except StopIteration:
            self.steps = None
            return time.perf_counter() - self.began
        return None

    def forget(self) -> None:
        """Give up what is under way."""
        self.socket.close()
        self.steps = None
        self.received = b""

    def _received(self) -> Answer | None:
        chunk = self.socket.recv(_CHUNK)
        if not chunk:
            raise Wrong("the connection was closed")
        self.received += chunk
        answer = parse(self.received)
        if answer is not None:
            self.received = b""
        return answer


class Load:
    """All connections, and what they found."""

    def __init__(self, connections: list[Connection]) -> None:
        self.selector = selectors.DefaultSelector()
        self.waiting = set(connections)
        self.latencies: list[float] = []
        self.errors: list[str] = []
        for connection in connections:
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.begin()

    def run(self, seconds: float, *, begin_again: bool = True) -> float:
        """Work for so long, or until nobody waits any more; return how long it was."""
        began = time.perf_counter()
        while self.waiting and time.perf_counter() - began < seconds:
            for key, _ in self.selector.select(timeout=0.05):
                self._serve(key.data, begin_again=begin_again)
        return time.perf_counter() - began

    def warm_up(self, seconds: float) -> None:
        """Work unmeasured, and meanwhile open every connection anew, one after the other.

        Connections that are opened while nothing happens may all land on one worker. Under
        load the worker that has less to do is the one that accepts.
        """
        began = time.perf_counter()
        for number, connection in enumerate(self.waiting, 1):
            connection.renew_at = began + seconds * number / (len(self.waiting) + 1)
        self.run(seconds)
        self.latencies.clear()

    def _renew(self, connection: Connection) -> None:
        self.selector.unregister(connection.socket)
        connection.renew()
        self.selector.register(connection.socket, selectors.EVENT_READ, connection)

    def _serve(self, connection: Connection, *, begin_again: bool) -> None:
        try:
            latency = connection.go_on()
            if latency is None:
                return
            self.latencies.append(latency)
            if begin_again:
                if connection.client.is_somebody_new or time.perf_counter() > connection.renew_at:
                    self._renew(connection)
                connection.begin()
                return
        except (Wrong, OSError, ValueError, KeyError) as error:
            # One error spoils the row; the client that met it does nothing more.
            self.errors.append(f"{type(error).__name__}: {error}")
        self.selector.unregister(connection.socket)
        self.waiting.discard(connection)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run one job: prepare, warm up, measure, let every answer come in."""
    world = World.of(job["world"])
    count = job["connections"]
    connections = [Connection(job["port"], ROWS[job["row"]](world, n, count)) for n in range(count)]
    for connection in connections:
        connection.prepare()
    load = Load(connections)
    load.warm_up(job["warm_up"])
    print("begin", flush=True)
    cpu = time.process_time()
    seconds = load.run(job["seconds"])
    cpu = time.process_time() - cpu
    print("end", flush=True)
    latencies = sorted(load.latencies)
    load.run(PATIENCE, begin_again=False)
    load.errors += [f"no answer within {PATIENCE:.0f} s" for _ in load.waiting]
    return {
        "steps": len(latencies),
        "per_second": len(latencies) / seconds,
        "p50": percentile(latencies, 0.50),
        "p99": percentile(latencies, 0.99),
        "generator_cpu": cpu,
        "errors": len(load.errors),
        "said": load.errors[:3],
    }


def percentile(ordered: list[float], share: float) -> float:
    """Return a percentile in milliseconds; the nearest rank, so a value that was really seen."""
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> None:
    """Do the job on standard input."""
    job = json.load(sys.stdin)
    try:
        result = measure(job)
    except (Wrong, OSError) as error:
        result = {"errors": 1, "said": [f"before the measurement: {type(error).__name__}: {error}"]}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
