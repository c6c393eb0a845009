"""A second server beside the one of the run, on the same database, started otherwise."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from tests.support import server


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(**environment: str) -> Iterator[str]:
    """Serve with these variables changed, and yield the address, which is its issuer too."""
    port = str(free_port())
    address = f"http://127.0.0.1:{port}"
    with server.running(**({"PORT": port, "BASE_URL": address, "WEB_CONCURRENCY": "1"} | environment)):
        yield address
