"""Responses that are made while they are sent, and requests whose client leaves or sends small parts."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from django.conf import settings

from tests.support import second
from tests.support.streams import SECONDS, SEEN
from tests.support.wire import send_raw

PART = 65_536
THREADS = 4
MOST = 12  # connections


@pytest.fixture(scope="module")
def served(database: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """A server with streams, and the file that says what it sent."""
    seen = tmp_path_factory.mktemp("streams") / "seen"
    seen.touch()
    settle = {
        "TEST_APPLICATION": "tests.support.streams:application",
        "THREADS": str(THREADS),
        "GUNICORN_CMD_ARGS": f"--worker-connections {MOST}",
    }
    with second.running(**settle, **{SEEN: str(seen)}) as address:
        yield address, seen


@pytest.fixture
def seen(served: tuple[str, Path]) -> Path:
    served[1].write_text("")
    return served[1]


def asking(address: str, path: str) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])), timeout=20)
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
    return connection


def wait_until_closed(seen: Path) -> None:
    began = time.monotonic()
    while not seen.read_text().endswith("closed"):
        assert time.monotonic() < began + 10
        time.sleep(0.05)


def test_ends_when_the_client_leaves_and_logs_nothing(served, seen):
    log = settings.VAR / "server.log"
    before = log.stat().st_size
    with asking(served[0], "/endless") as connection:
        assert connection.recv(PART)

    wait_until_closed(seen)
    time.sleep(0.2)
    assert b"Error" not in log.read_bytes()[before:]


def test_waits_for_a_client_that_does_not_read(served, seen):
    with asking(served[0], "/endless"):
        time.sleep(1)
        sent = len(seen.read_text())
        time.sleep(1)

        assert 0 < len(seen.read_text()) == sent
    wait_until_closed(seen)


def test_attack_AP45_ends_for_a_client_that_reads_too_slowly(database, tmp_path):
    """Also if the client reads a little from time to time, and without an error in the log."""
    log, seen = settings.VAR / "server.log", tmp_path / "seen"
    seen.touch()
    before = log.stat().st_size if log.exists() else 0
    application = "tests.support.streams:application"
    with second.running(TEST_APPLICATION=application, **{SEEN: str(seen), SECONDS: "3"}) as address:
        received = b""
        with asking(address, "/endless") as connection, suppress(ConnectionResetError):
            while not seen.read_text().endswith("closed"):
                assert connection.recv(4_096)
                time.sleep(0.1)
            while part := connection.recv(PART):
                received = part
    assert not received.endswith(b"0\r\n\r\n")
    assert b"Error" not in log.read_bytes()[before:]


def test_that_breaks_off_does_not_look_complete(served, seen):
    answer = send_raw(served[0], b"GET /broken HTTP/1.1\r\nHost: x\r\n\r\n")

    assert answer.startswith(b"HTTP/1.1 200 OK")
    assert not answer.endswith(b"0\r\n\r\n")
    assert seen.read_text() == ".closed"


def test_ends_with_the_connection_for_an_old_client(served, seen):
    answer = send_raw(served[0], b"GET /broken HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")

    assert b"Connection: close" in answer
    assert b"chunked" not in answer
    assert answer.count(b"x") >= PART


def leave(address: str) -> None:
    """Ask, and reset the connection, so that the server notices at once."""
    with asking(address, "/wait") as connection:
        time.sleep(0.03)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


@pytest.fixture
def busy(served: tuple[str, Path], seen: Path) -> Iterator[list[socket.socket]]:
    """Clients for which all threads work for a second and a half."""
    with ExitStack() as stack:
        clients = [stack.enter_context(asking(served[0], "/wait")) for _ in range(THREADS)]
        while len(seen.read_text()) < THREADS:
            time.sleep(0.02)
        yield clients
        assert [client.recv(PART)[-6:] for client in clients] == [b"waited"] * THREADS


@pytest.mark.usefixtures("busy")
def test_a_client_that_has_left_before_it_got_a_thread_is_not_served(served, seen):
    for _ in range(5):
        leave(served[0])

    with asking(served[0], "/wait") as last:
        assert last.recv(PART)[-6:] == b"waited"
    assert seen.read_text() == "w" * (THREADS + 1)


@pytest.mark.usefixtures("busy")
def test_waiting_requests_of_clients_that_have_left_count_as_connections(served):
    for _ in range(MOST - THREADS):
        leave(served[0])

    with asking(served[0], "malformed") as late:  # needs no thread, once it is accepted
        late.settimeout(0.2)
        with pytest.raises(TimeoutError):
            late.recv(1)
        late.settimeout(20)
        assert b" 400 " in late.recv(PART)


def test_a_body_in_many_small_chunks_is_read_in_few_parts(served):
    chunks = b"1\r\na\r\n" * 200_000
    head = b"POST /parts HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"

    parts, size = send_raw(served[0], head + chunks + b"0\r\n\r\n").rpartition(b"\r\n")[2].split()

    assert int(size) == 200_000
    assert int(parts) < 200
