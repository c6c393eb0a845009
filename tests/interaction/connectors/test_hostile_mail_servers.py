"""Mail servers that try to hold a thread, or to fill the memory."""

import socketserver
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

import pytest

from interaction.connectors.errors import ProviderError
from interaction.connectors.messages import new_test_email
from interaction.connectors.providers import smtp
from tests.support import providers
from tests.support.connectors import send

SECONDS = 1.0


@pytest.fixture(autouse=True)
def short_sessions(development, monkeypatch):
    monkeypatch.setattr(smtp, "_SESSION_SECONDS", SECONDS)


@contextmanager
def served(handle: Callable[[socketserver.StreamRequestHandler], None]) -> Iterator[int]:
    def quietly(handler: socketserver.StreamRequestHandler) -> None:
        with suppress(OSError):
            handle(handler)

    def finish(handler: socketserver.StreamRequestHandler) -> None:
        with suppress(OSError):
            handler.connection.close()

    handler: Any = type(
        "Handler", (socketserver.StreamRequestHandler,), {"handle": quietly, "finish": finish}
    )
    with providers.serving(socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler)) as port:
        yield port


def send_to(port: int, security: str) -> float:
    """Return the seconds after which the attempt to send an email failed."""
    config = {"host": "localhost", "port": port, "security": security, "from_email": "us@example.com"}
    started = time.monotonic()
    with pytest.raises(ProviderError, match=r"^localhost "):
        send("smtp", new_test_email("ada@example.org"), **config)
    return time.monotonic() - started


def say_forever(write: Callable[[bytes], object], *, pause: float) -> None:
    for _ in range(int(SECONDS * 10 / pause)):
        write(b"250-x\r\n")
        time.sleep(pause)


@pytest.mark.parametrize("security", ["none", "starttls"])
def test_a_reply_that_does_not_end_is_cut_off(security):
    def handle(handler: socketserver.StreamRequestHandler) -> None:
        handler.wfile.write(b"220 loopback\r\n")
        say_forever(handler.wfile.write, pause=0.2)

    with served(handle) as port:
        assert send_to(port, security) < SECONDS * 3


def test_attack_a_tls_handshake_outlasts_the_time_limit(tmp_path, monkeypatch):
    tls, trusted = providers.certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(trusted))

    def handle(handler: socketserver.StreamRequestHandler) -> None:
        for reply in (b"220 loopback", b"250 STARTTLS", b"220 go ahead"):
            handler.wfile.write(b"250-loopback\r\n" * reply.startswith(b"250") + reply + b"\r\n")
            if not reply.endswith(b"ahead"):
                handler.rfile.readline()
        time.sleep(SECONDS * 2)
        handler.connection = tls.wrap_socket(handler.connection, server_side=True)
        handler.connection.recv(1024)
        say_forever(handler.connection.sendall, pause=0.2)

    with served(handle) as port:
        assert send_to(port, "starttls") < SECONDS * 4


def test_a_connection_is_closed_at_once_if_the_server_does_not_speak_tls():
    closed = Event()

    def handle(handler: socketserver.StreamRequestHandler) -> None:
        handler.wfile.write(b"220 loopback\r\n")
        with suppress(ConnectionResetError):
            handler.rfile.read()
        closed.set()

    with served(handle) as port:
        send_to(port, "tls")
        assert closed.wait(SECONDS / 2)


@pytest.mark.parametrize(("lines", "is_read"), [(100, True), (101, False)])
def test_attack_a_reply_fills_the_memory(lines, is_read):
    verbs = []

    def handle(handler: socketserver.StreamRequestHandler) -> None:
        handler.wfile.write(b"220 loopback\r\n")
        while line := handler.rfile.readline():
            verbs.append(line[:4])
            handler.wfile.write(
                b"250-x\r\n" * (lines - 1) + b"250 x\r\n" if len(verbs) < 2 else b"550 no\r\n"
            )

    with served(handle) as port:
        send_to(port, "none")

    assert verbs == ([b"ehlo", b"mail", b"rset", b"quit"] if is_read else [b"ehlo"])
