"""What a worker does with connections: kept, closed, held open, more than there are threads."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
from django.conf import settings

from tests.support.cast import World

_PATH = "/.well-known/jwks.json"
_THREADS = settings.WEB_CONCURRENCY * settings.THREADS


@contextmanager
def connected(acme: World) -> Iterator[socket.socket]:
    parts = urlsplit(acme.address)
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=10) as connection:
        yield connection


def request(acme: World, *headers: str) -> bytes:
    """A request in the bytes that are sent."""
    parts = urlsplit(acme.address)
    lines = [f"GET {parts.path}{_PATH} HTTP/1.1", f"Host: {parts.netloc}", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


def read(connection: socket.socket, answers: int = 1) -> bytes:
    """What comes until there are so many answers with their bodies."""
    found = b""
    while found.count(b"HTTP/1.1 200 OK") < answers or not found.endswith(b"]}"):
        part = connection.recv(65_536)
        assert part, found
        found += part
    return found


def left(connection: socket.socket, acme: World) -> None:
    """Have the server close its side, and keep ours open."""
    connection.sendall(request(acme, "Connection: close"))
    read(connection)
    assert connection.recv(1) == b""


def refused_after(connection: socket.socket, part: bytes, pause: float = 0) -> int:
    """How many parts were sent before the server refused them; 0 if it takes all."""
    for number in range(1, 100):
        try:
            connection.sendall(part)
        except ConnectionError:
            return number
        time.sleep(pause)
    return 0


def test_clients_that_keep_their_side_open_hold_up_nobody(acme):
    with ExitStack() as held:
        for _ in range(20):  # two seconds each, if they were waited for one after the other
            held.enter_context(connected(acme)).sendall(request(acme, "Connection: close"))

        answers = [httpx.get(f"{acme.address}{_PATH}", timeout=2).status_code for _ in range(10)]

    assert answers == [200] * 10


def test_a_connection_that_the_client_does_not_close_is_closed_after_a_while(acme):
    with connected(acme) as connection:
        left(connection, acme)

        assert refused_after(connection, b".", pause=0.1)


def test_a_client_that_goes_on_sending_is_not_listened_to_for_ever(acme):
    with connected(acme) as connection:
        left(connection, acme)

        assert refused_after(connection, b"." * 65_536)


def test_one_connection_serves_requests_at_once_and_later(acme):
    with connected(acme) as connection:
        for pause in (0, 0, 0.3, 0, 0.01):
            time.sleep(pause)
            connection.sendall(request(acme))

            assert read(connection).count(b"200 OK") == 1


def test_requests_that_are_sent_together_are_answered_one_after_the_other(acme):
    with connected(acme) as connection:
        connection.sendall(request(acme) * 3)

        assert read(connection, answers=3).count(b"200 OK") == 3


def test_more_connections_than_threads_are_all_served(acme):
    with ExitStack() as stack:
        clients = [stack.enter_context(httpx.Client(timeout=30)) for _ in range(_THREADS + 10)]
        pool = stack.enter_context(ThreadPoolExecutor(len(clients)))

        found = list(
            pool.map(lambda c: [c.get(acme.address + _PATH).status_code for _ in range(10)], clients)
        )

    assert found == [[200] * 10] * len(clients)


def test_garbage_is_collected_from_when_the_application_is_loaded():
    script = (
        "import gc; from config import gunicorn, wsgi; print(gc.isenabled()); "
        "gunicorn.when_ready(None); print(gc.isenabled())"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings"},
        cwd=settings.BASE_DIR,
        capture_output=True,
        text=True,
        check=True,
    )

    assert ended.stdout.split() == ["False", "True"]
