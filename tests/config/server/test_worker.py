"""What a worker does with connections: kept, closed, held open, more than there are threads."""

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings

from tests.support import second, server, wire
from tests.support.cast import World

_PATH = "/.well-known/jwks.json"
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"
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


def until_closed(connection: socket.socket) -> bytes:
    """What comes until the server closes its side."""
    return b"".join(iter(lambda: connection.recv(65_536), b""))


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


@pytest.mark.parametrize(
    "start",
    [
        b"",
        b"POST /oidc/tok",
        b"POST /oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\na",
        b"POST /oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n" + FORM + b"\r\na",
        b"POST /oidc/token HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\na",
    ],
    ids=["nothing", "a part of the head", "a part of a body", "of a large body", "of a body in chunks"],
)
def test_slow_clients_hold_up_nobody(acme, start):
    with ExitStack() as held:
        for _ in range(3 * _THREADS):
            held.enter_context(connected(acme)).sendall(start)

        answers = [httpx.get(f"{acme.address}{_PATH}", timeout=2).status_code for _ in range(10)]

    assert answers == [200] * 10


def test_a_client_that_has_closed_its_side_gets_its_answers(acme):
    with connected(acme) as connection:
        connection.sendall(request(acme) * 3)
        connection.shutdown(socket.SHUT_WR)

        assert until_closed(connection).count(b"200 OK") == 3


def test_a_body_that_ends_early_is_refused(acme):
    head = f"POST {urlsplit(acme.address).path}/oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"

    assert wire.send_raw(acme.address, head.encode() + b"abc").startswith(b"HTTP/1.1 400 ")


def test_a_body_that_ends_early_behind_another_request_is_refused(acme):
    path = urlsplit(acme.address).path
    behind = f"POST {path}/oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
    with connected(acme) as connection:
        connection.sendall(request(acme) + behind.encode())
        connection.shutdown(socket.SHUT_WR)
        answers = until_closed(connection)  # within the ten seconds of the socket

    assert re.findall(rb"HTTP/1.1 (\d+)", answers) == [b"200", b"400"]


@pytest.mark.parametrize("size", [65_000, 66_000, 900_000])
def test_a_body_of_any_size_is_read(acme, size):
    body = b"grant_type=" + b"a" * size

    answer = wire.send(
        acme.address, "POST", b"/oidc/token", "Content-Type: application/x-www-form-urlencoded", body=body
    )

    assert (answer.status, b"grant_type" in answer.body) == (400, True)


@pytest.mark.parametrize("cut", [0, -1, -40])
def test_requests_that_are_sent_together_have_their_own_bodies(acme, cut):
    start = f"POST {urlsplit(acme.address).path}/oidc/token HTTP/1.1\r\nHost: x\r\n".encode() + FORM
    known, unknown = b"grant_type=client_credentials", b"grant_type=a"
    requests = [
        start + b"Content-Length: %d\r\n\r\n%s" % (len(known), known),
        start + b"Transfer-Encoding: chunked\r\n\r\n6\r\ngrant_\r\n6\r\ntype=a\r\n0\r\n\r\n",
        start + b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(unknown), unknown),
    ]
    sent = b"".join(requests)
    with connected(acme) as connection:
        connection.sendall(sent[: cut or None])
        time.sleep(0.3)
        connection.sendall(sent[cut:] if cut else b"")

        answers = until_closed(connection)

    errors = re.findall(rb'"error":"(\w+)"', answers)
    assert errors == [b"invalid_client", b"unsupported_grant_type", b"unsupported_grant_type"]


def test_the_end_of_a_large_body_may_come_late(acme):
    path = urlsplit(acme.address).path
    head = (
        f"POST {path}/oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\nConnection: close\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n\r\n"
    )
    with connected(acme) as connection:
        connection.sendall(head.encode() + b"grant_type=" + b"a" * 70_000)
        time.sleep(0.3)
        connection.sendall(b"a" * 29_989)

        assert until_closed(connection).startswith(b"HTTP/1.1 400 ")


def test_a_client_that_may_not_send_a_large_body_is_told_so_before_it_does(acme):
    path = urlsplit(acme.address).path
    head = f"POST {path}/sign-in HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
    with connected(acme) as connection:
        connection.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())

        assert until_closed(connection).startswith(b"HTTP/1.1 413 ")


def test_a_target_with_a_host_names_the_same_path(acme):
    parts = urlsplit(acme.address)
    line = f"GET http://elsewhere.example{parts.path}{_PATH} HTTP/1.1\r\n"

    assert b'"keys"' in wire.send_raw(acme.address, line.encode() + b"Host: x\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize("target", [b"http://[::1/x", b"http://[not-an-address]/x", b"http://]/"])
def test_a_target_with_a_malformed_host_is_refused(acme, target):
    answer = wire.send_raw(acme.address, b"GET " + target + b" HTTP/1.1\r\nHost: x\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 400 ")


def test_an_upgrade_is_not_offered(acme):
    upgrade = ("Connection: upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Version: 13")
    with connected(acme) as connection:
        connection.sendall(request(acme, *upgrade, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="))

        assert b" 200 OK" in until_closed(connection)


class TestStop:
    """SIGTERM: what was sent is answered, and nothing new is accepted."""

    def test_a_body_that_is_on_its_way_is_waited_for_and_an_idle_client_is_told(self):
        port = second.free_port()
        settle = {"PORT": str(port), "BASE_URL": f"http://127.0.0.1:{port}", "WEB_CONCURRENCY": "1"}
        ask = f"GET {_PATH} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
        with server.process(settings.BASE_DIR, **settle) as master, ExitStack() as stack:
            sending, idle = (
                stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
                for _ in range(2)
            )
            head = "POST /oidc/token HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
            sending.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\n\r\ngrant".encode())
            idle.sendall(ask)
            read(idle)

            master.terminate()
            time.sleep(0.5)
            idle.sendall(ask)
            told = until_closed(idle)
            sending.sendall(b"_type")
            answered = until_closed(sending)
            with pytest.raises(ConnectionError):
                socket.create_connection(("127.0.0.1", port), timeout=20)

        assert b" 200 OK" in told
        assert b"Connection: close" in told
        assert b" 400 Bad Request" in answered
        assert b"grant_type" in answered


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
