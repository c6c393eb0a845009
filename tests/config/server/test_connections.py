"""Connections of clients that read, send or leave in unusual ways. The transport and the time are made up."""

import asyncio
import socket
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from gunicorn.config import Config

from config.server import wsgi_requests
from config.server.connection import Connection

HEAD = b"POST /sign-in HTTP/1.1\r\nHost: x\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


class Loop:
    """A loop whose time passes when the test says so."""

    def __init__(self) -> None:
        self._now = 0.0
        self._waiting: list[tuple[float, Any, tuple[Any, ...]]] = []

    def call_later(self, seconds: float, call: Any, *arguments: Any) -> Any:
        entry = (self._now + seconds, call, arguments)
        self._waiting.append(entry)

        def cancel() -> None:
            if entry in self._waiting:
                self._waiting.remove(entry)

        return SimpleNamespace(cancel=cancel)

    def create_task(self, coroutine: Any) -> Any:
        coroutine.close()
        return Mock()

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and make the calls that are due by then."""
        self._now += seconds
        while due := [entry for entry in self._waiting if entry[0] <= self._now]:
            self._waiting.remove(due[0])
            due[0][1](*due[0][2])


class Transport:
    """A transport to a client that has read all but ``unread`` bytes."""

    def __init__(self, peername: object = ("203.0.113.1", 4711), family: Any = socket.AF_INET) -> None:
        self.unread = 0
        self.is_aborted = False
        self._facts = {"peername": peername, "socket": SimpleNamespace(family=family)}

    def get_extra_info(self, name: str) -> object:
        return self._facts.get(name)

    def get_write_buffer_size(self) -> int:
        return self.unread

    def abort(self) -> None:
        self.is_aborted = True

    def is_closing(self) -> bool:
        return False

    def __getattr__(self, _: str) -> Any:
        return lambda *_, **__: None


@pytest.fixture
def connection() -> Connection:
    loop, cfg = Loop(), Config()
    cfg.set("keepalive", 15)
    worker = Mock(loop=loop, cfg=cfg, alive=True, nr=0, max_requests=10**9, nr_conns=0)
    return Connection(worker)


def made(connection: Connection, transport: Transport) -> Transport:
    async def make() -> None:
        connection.connection_made(transport)  # type: ignore[arg-type]

    asyncio.run(make())
    return transport


def test_a_closing_connection_whose_client_reads_and_then_stops_is_ended(connection):
    transport = made(connection, Transport())
    transport.unread = 70_000
    connection.pause_writing()
    connection._close_transport()
    loop = connection.worker.loop

    loop.pass_time(3)
    transport.unread = 16_000
    connection.resume_writing()
    loop.pass_time(60)
    assert not transport.is_aborted
    loop.pass_time(60)

    assert transport.is_aborted


def test_a_closing_connection_whose_client_has_read_all_is_ended(connection):
    transport = made(connection, Transport())
    connection._close_transport()

    connection.worker.loop.pass_time(3)

    assert transport.is_aborted


@pytest.mark.parametrize("size", [1, 2, 100, 1_000])
def test_small_chunks_of_a_body_take_little_memory(connection, size):
    made(connection, Transport())
    chunk = b"%x\r\n%s\r\n" % (size, b"a" * size)

    connection.data_received(CHUNKED)
    for _ in range(40):
        connection.data_received(chunk * (1_600 // size))

    receiver = connection._body_receiver
    assert receiver.buffered == 40 * size * (1_600 // size)
    assert len(receiver._chunks) <= receiver.buffered / 500 + 2
    assert b"".join(receiver._chunks) == b"a" * receiver.buffered


def test_the_time_for_a_large_body_begins_when_a_thread_reads_it(monkeypatch):
    monkeypatch.setattr(wsgi_requests, "_LARGE_SECONDS", 0.2)
    rest = {"type": "http.request", "body": b"b" * 10, "more_body": False}

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0.01)
        return rest

    async def read() -> bytes:
        body = await wsgi_requests.read_body({"headers": [(b"content-length", b"99999")]}, receive)
        assert body is not None
        await asyncio.sleep(0.4)  # for a thread
        return await asyncio.to_thread(body.read)

    assert asyncio.run(read()) == b"b" * 10


def test_a_client_without_an_address_has_left(connection):
    assert made(connection, Transport(peername=None)).is_aborted


def test_a_client_of_a_socket_without_addresses_is_served(connection):
    assert not made(connection, Transport(peername="", family=socket.AF_UNIX)).is_aborted
