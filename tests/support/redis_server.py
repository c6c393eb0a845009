"""A Redis or Valkey of the tests' own, that can be frozen, killed and started again."""

import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import second
from tests.support.packages import lacking


class RedisServer:
    """One that keeps nothing when it ends."""

    def __init__(self, program: str) -> None:
        self._program = program
        self.port = second.free_port()
        self.url = f"redis://127.0.0.1:{self.port}/3"
        self.start()

    def start(self) -> None:
        options = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        self._process = subprocess.Popen([self._program, *options], stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError(f"{self._program} does not answer")

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)

    def freeze(self) -> None:
        """Let it take connections and answer nobody."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@contextmanager
def running() -> Iterator[RedisServer]:
    """Serve on a port of its own. Without the program the test is skipped, or fails (``lacking``)."""
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        lacking("Redis", "Debian: apt install redis-server")
    assert program is not None
    server = RedisServer(program)
    try:
        yield server
    finally:
        server.kill()
