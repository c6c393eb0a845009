"""Closed-loop load: every connection waits for its answer before it sends the next request.

Runs in a process of its own with a job as JSON on standard input. Prints ``start`` and ``end``
around the measured time, then the result as JSON.
"""

import json
import selectors
import sys
import time
from typing import Any

from bench.clients import SeedData
from bench.connection import ANSWER_TIMEOUT, ERRORS, Connection, describe, statistics
from bench.workloads import WORKLOADS


class ClosedLoop:
    """All connections, their latencies and their errors."""

    def __init__(self, connections: list[Connection]) -> None:
        self.selector = selectors.DefaultSelector()
        self.waiting = set(connections)
        self.latencies: list[float] = []
        self.errors: list[str] = []
        for connection in connections:
            self.selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.start_step()

    def run(self, seconds: float, *, repeat: bool = True) -> float:
        """Work for this time, or until no connection waits; return the seconds it took."""
        started = time.perf_counter()
        while self.waiting and time.perf_counter() - started < seconds:
            for key, _ in self.selector.select(timeout=0.05):
                self._handle(key.data, repeat=repeat)
        return time.perf_counter() - started

    def warm_up(self, seconds: float) -> None:
        """Work unmeasured, and reconnect every connection, one after the other.

        Connections that are opened to an idle server may all reach one worker. Under load the
        worker that has less to do accepts first.
        """
        started = time.perf_counter()
        for number, connection in enumerate(self.waiting, 1):
            connection.reconnect_at = started + seconds * number / (len(self.waiting) + 1)
        self.run(seconds)
        self.latencies.clear()

    def _handle(self, connection: Connection, *, repeat: bool) -> None:
        try:
            latency = connection.continue_step()
            if latency is None:
                return
            self.latencies.append(latency)
            if repeat:
                if connection.client.has_new_connections or time.perf_counter() > connection.reconnect_at:
                    self.selector.unregister(connection.socket)
                    connection.reconnect()
                    self.selector.register(connection.socket, selectors.EVENT_READ, connection)
                connection.start_step()
                return
        except ERRORS as error:
            # One error invalidates the row; the client stops.
            self.errors.append(describe(error))
        self.selector.unregister(connection.socket)
        self.waiting.discard(connection)


def measure(job: dict[str, Any]) -> dict[str, Any]:
    """Run a job: prepare, warm up, measure, wait for the last answers."""
    data, client, count = SeedData.from_json(job["data"]), WORKLOADS[job["row"]], job["connections"]
    connections = [Connection(job["port"], client(data, number, count)) for number in range(count)]
    for connection in connections:
        connection.prepare()
    for connection in connections:
        connection.reconnect()  # the server may have closed idle connections while others were prepared
    loop = ClosedLoop(connections)
    loop.warm_up(job["warm_up"])
    print("start", flush=True)
    cpu = time.process_time()
    seconds = loop.run(job["seconds"])
    cpu = time.process_time() - cpu
    print("end", flush=True)
    latencies = loop.latencies.copy()
    loop.run(ANSWER_TIMEOUT, repeat=False)
    loop.errors += [f"no answer within {ANSWER_TIMEOUT:.0f} s" for _ in loop.waiting]
    return statistics(latencies, loop.errors) | {
        "steps": len(latencies),
        "per_second": len(latencies) / seconds,
        "generator_cpu": cpu,
    }


def main() -> None:
    """Run the job on standard input."""
    job = json.load(sys.stdin)
    try:
        result = measure(job)
    except ERRORS as error:
        result = {"errors": 1, "messages": [f"before the measurement: {describe(error)}"]}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
