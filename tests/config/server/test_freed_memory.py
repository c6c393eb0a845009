"""Requests and connections are freed when they end, without garbage collection.

Garbage collection pauses a worker for up to 0.1 s.
"""

import asyncio
import gc
import logging
import socket
import struct
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from importlib import import_module
from typing import Any
from wsgiref.util import setup_testing_defaults

import httpx
import pytest
from django.db import OperationalError
from gunicorn.config import Config

from config.server.connection import Connection
from config.server.shared_reads import SharedReads
from config.server.wsgi_requests import FAILURE, Failure, Send
from database import batching
from database.batching import Call, Outcome, Outcomes, Work
from identity.users import hashing_process
from tests.support import second, server, threads

REQUEST = b"GET /page HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
def uncollected() -> Iterator[None]:
    """Nothing is freed but what nothing refers to."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Log(logging.Logger):
    """gunicorn's logger without an access log."""

    access_log_enabled = False


class Worker:
    """A worker that answers each request with ``done``, and knows which connections still exist.

    It answers once ``may_respond`` is set, and keeps the environments, as cycles of Django do.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.large_bodies = asyncio.Semaphore()
        self.environs: list[dict[str, Any]] = []
        self.has_request = asyncio.Event()
        self.may_respond = asyncio.Event()
        self.may_respond.set()
        self.cfg = Config()
        self.cfg.set("keepalive", 15)
        self.log = Log("gunicorn")
        self.asgi, self.alive, self.nr, self.max_requests, self.nr_conns = None, True, 0, 1_000, 0
        self.existing: weakref.WeakSet[Connection] = weakref.WeakSet()

    def connect(self) -> Connection:
        connection = Connection(self)
        self.existing.add(connection)
        return connection

    def add(self, connection: Connection) -> None: ...

    def remove(self, connection: Connection) -> None: ...

    async def respond(self, environ: dict[str, Any], send: Send, connection: Connection) -> None:
        self.environs.append(environ)
        self.has_request.set()
        await self.may_respond.wait()
        headers = [(b"content-length", b"4")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"done"})


async def serve(client: Callable[[str, int], Any]) -> int:
    """Have a client connect, and return how many connections exist half a second after it has left."""
    worker = Worker(asyncio.get_running_loop())
    server = await worker.loop.create_server(worker.connect, "127.0.0.1", 0)
    async with server:
        await client(*server.sockets[0].getsockname()[:2])
        await asyncio.sleep(0.5)
        return len(worker.existing)


async def talk(host: str, port: int, *, sent: Sequence[bytes], answer: bytes, leaves: bool) -> None:
    """Send requests, read an answer to each, and leave first or when the server closes the connection."""
    reader, writer = await asyncio.open_connection(host, port)
    for request in sent:
        writer.write(request)
        await reader.readuntil(answer)  # raises if the answer does not come
    if not leaves:
        assert await reader.read() == b""
    writer.close()


@pytest.mark.parametrize(
    ("sent", "answer", "leaves"),
    [
        ([], b"", True),
        ([REQUEST], b"done", True),
        ([REQUEST, REQUEST], b"done", True),
        ([REQUEST.replace(b"Host: x", b"Host: x\r\nConnection: close")], b"done", False),
        ([REQUEST.replace(b"Host: x", b"Host: x\r\nContent-Length: 99999")], b"done", False),
        ([b"nonsense\r\n\r\n"], b"\r\n\r\nBad Request", False),
        ([b"GET /" + b"a" * 9_000], b"\r\n\r\n" + HTTPStatus.REQUEST_URI_TOO_LONG.phrase.encode(), False),
    ],
    ids=["nothing sent", "one", "two", "the server closes", "a body that is not read", "none", "too long"],
)
def test_a_connection(uncollected, sent, answer, leaves):
    client = partial(talk, sent=sent, answer=answer, leaves=leaves)

    assert asyncio.run(serve(client)) == 0


async def leave_early(*, reset: bool) -> int:
    """Leave while a request is served, and return how many connections exist once it would be answered."""
    worker = Worker(asyncio.get_running_loop())
    worker.may_respond.clear()
    server = await worker.loop.create_server(worker.connect, "127.0.0.1", 0)
    async with server:
        _, writer = await asyncio.open_connection(*server.sockets[0].getsockname()[:2])
        writer.write(REQUEST)
        await worker.has_request.wait()
        if reset:
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()
        await asyncio.sleep(0.2)
        assert len(worker.existing) == 1
        worker.may_respond.set()
        await asyncio.sleep(0.2)
        return len(worker.existing)


@pytest.mark.parametrize("reset", [False, True], ids=["closed", "reset"])
def test_a_connection_whose_client_left_before_the_response(uncollected, reset):
    assert asyncio.run(leave_early(reset=reset)) == 0


class Waiting:
    """A request that waits for a document."""

    def __init__(self) -> None:
        self.result: Any = None

    def finish(self, result: Any) -> None:
        self.result = result


async def read_in_vain(requests: "weakref.WeakSet[Waiting]") -> None:
    """Have two requests share a read that fails."""

    def read(_: str) -> None:
        raise OSError("unreachable")

    with ThreadPoolExecutor(1) as threads:
        has_ended = asyncio.Event()
        loop = asyncio.get_running_loop()

        def end(_: int) -> None:
            loop.call_soon(has_ended.set)

        reads = SharedReads[None](loop, threads, read, end)
        waiting = [Waiting(), Waiting()]
        for request in waiting:
            requests.add(request)
            reads.join(("document",), request.finish)
        await has_ended.wait()
        assert all(isinstance(request.result, Failure) for request in waiting)


def test_requests_whose_read_failed(uncollected):
    requests: weakref.WeakSet[Waiting] = weakref.WeakSet()

    asyncio.run(read_in_vain(requests))

    assert len(requests) == 0


def respond_to_failure(callers: "weakref.WeakSet[Waiting]") -> None:
    """Have Django respond to a failure. A caller refers to a connection in the same way."""
    caller = Waiting()
    callers.add(caller)
    environ: dict[str, Any] = {"PATH_INFO": "/.well-known/jwks.json"}
    setup_testing_defaults(environ)
    environ[FAILURE] = Failure.of(OperationalError("unreachable"))
    result: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing_process, "enable", lambda: None)
        application = import_module("config.wsgi").application
        patch.setattr(logging.getLogger("django.request"), "disabled", True)  # pytest keeps logged failures
        b"".join(application(environ, lambda status, _: result.append(status)))
    assert result == ["503 Service Unavailable"]


def test_a_request_whose_failure_django_has_responded_to(address, uncollected):
    callers: weakref.WeakSet[Waiting] = weakref.WeakSet()

    respond_to_failure(callers)

    assert len(callers) == 0


@pytest.fixture(scope="module")
def uncollecting(address: str) -> Iterator[str]:
    """The address of a server with one worker, which collects no garbage."""
    port = second.free_port()
    here = f"http://127.0.0.1:{port}"
    application = "tests.support.existing_connections:application"
    with server.running(
        PORT=str(port), BASE_URL=here, WEB_CONCURRENCY="1", TEST_APPLICATION=application
    ) as served:
        yield served


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/nothing", {}),
        ("/admin/", {}),
        ("/api/v1/users", {"Authorization": "Bearer a.b.c"}),
        ("/oidc/userinfo", {"Authorization": "Bearer a.b.c"}),
        ("/oidc/authorize?client_id=a", {}),
    ],
)
def test_a_connection_whose_request_was_refused(uncollecting, path, headers):
    for _ in range(3):
        with httpx.Client(base_url=uncollecting, headers=headers) as client:
            assert client.get(path).status_code < 500

    assert threads.wait_until(lambda: httpx.get(f"{uncollecting}/connections").text == "1")


class Row:
    """Something that work refers to."""


def count(rows: "weakref.WeakSet[Row]", calls: int) -> Work[int]:
    row = Row()
    rows.add(row)
    for number in range(calls):
        yield Call(f"{number}", (row,), lambda: Outcome([], 1))
    return calls


@pytest.mark.parametrize("calls", [0, 1, 3])
def test_a_batch(uncollected, calls):
    rows: weakref.WeakSet[Row] = weakref.WeakSet()
    waiting: list[Callable[[], None]] = []
    results: list[int] = []

    def execute(executed: Sequence[Call], finish: Callable[[Outcomes], None]) -> None:
        waiting.append(partial(finish, [Outcome([], 1) for _ in executed]))

    works = [count(rows, calls) for _ in range(2)]
    batching.start_batch(works, execute, lambda tasks: results.extend(task.get_result() for task in tasks))
    del works
    while waiting:
        waiting.pop()()

    assert results == [calls, calls]
    assert len(rows) == 0
