"""Connections of clients while no hashing place is free: refusals before a request is parsed by them."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from config.server import early_refusals, overload_answers
from config.server.overload import Overload
from tests.support import second
from tests.support.cast import PASSWORD, World
from tests.support.hashing_routes import HASHING
from tests.support.kept import Kept
from tests.support.stopped_hashing import stopped_hashing
from tests.support.wire import Answer

API = "/api/interaction/sign-in"
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
_SECRETS = json.dumps({"identifier": "nobody", "password": PASSWORD}).encode()


class Settings:
    """gunicorn's, as far as its parser needs them."""

    limit_request_line = 8_190
    limit_request_fields = 64
    limit_request_field_size = 40_960


@pytest.fixture
def overload() -> Overload:
    return Overload(Settings)


def sign_in(*headers: str, path: str = API, body: bytes = _SECRETS, version: str = "HTTP/1.1") -> bytes:
    lines = [f"POST {path} {version}", "Host: x", JSON, f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def bytes_of(path: str) -> bytes:
    request = httpx.Request("POST", f"http://x{path}", **HASHING[path])
    body = request.read()
    kind = request.headers["Content-Type"]
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize("path", HASHING)
def test_every_request_that_needs_a_place_is_refused_by_its_bytes(overload, crowded, path):
    refusal = overload.refuse(bytes_of(path))

    assert refusal is not None
    head, _, body = refusal.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    assert b"\r\nRetry-After: 2\r\n" in head
    assert f"\r\nContent-Length: {len(body)}\r\n".encode() in head


def test_with_a_place_nothing_is_refused(overload, crowded):
    crowded()

    assert not overload.is_active()
    assert overload.refuse(sign_in()) is None


@pytest.mark.parametrize(
    "data",
    [
        sign_in()[:-1],
        sign_in().partition(b"\r\n\r\n")[0] + b"\r\n\r\n",
        sign_in() * 2,
        sign_in() + b"G",
        sign_in("Connection: close"),
        sign_in(version="HTTP/1.0"),
        sign_in("Content-Length: 1"),
        sign_in().replace(b"Content-Length: ", b"Content-Length: " + b"1" * 5_000, 1),
        sign_in("Bad Name: 1"),
        sign_in("Host: x"),
        sign_in().replace(b"Host: x\r\n", b""),
        sign_in().replace(b"Host: x", b"Host: a b"),
        sign_in(path=f"{API}?a#b"),
        sign_in(path=f"http://x{API}"),
        sign_in(path=f"{API}/"),
        sign_in(path="/t/no--slug/../sign-in?a=b "),
        sign_in(path="/oidc/token"),
        sign_in(path=f"/oidc/token?next={API}"),
        sign_in().replace(b"POST", b"PUT", 1),
        sign_in(path="/api/interaction/register", body=b'{"username": "somebody"}'),
        sign_in(path="/api/interaction/register", body=b'{"password": ""}'),
        sign_in(path="/register", body=b"password=x"),
        sign_in(body=b"a" * 20_000),
        sign_in("Transfer-Encoding: chunked").replace(f"Content-Length: {len(_SECRETS)}\r\n".encode(), b""),
        sign_in("Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n\r\n").replace(
            b"Content-Length: 15\r\n", b""
        ),
        b"",
        b"POST ",
        b"POST /sign-in",
    ],
)
def test_whatever_is_unusual_or_needs_no_place_is_left_to_the_connection(overload, crowded, data):
    assert overload.refuse(data) is None
    assert overload.refuse(sign_in()) is not None  # and nothing of it is left in the parser


@pytest.mark.parametrize("name", ["LOG_REQUESTS", "TRACING"])
def test_requests_that_are_logged_or_traced_are_left_to_threads(overload, crowded, settings, name):
    setattr(settings, name, True)

    assert overload.refuse(sign_in()) is None


def test_a_failure_is_logged_and_the_request_left_to_the_connection(overload, crowded, monkeypatch, caplog):
    monkeypatch.setattr(overload_answers, "ids", None)

    assert overload.refuse(sign_in()) is None
    [logged] = [record for record in caplog.records if record.name == early_refusals.__name__]
    assert PASSWORD not in caplog.text + str(logged.exc_info[1])


@contextmanager
def flood(here: World, **environment: str) -> Iterator[World]:
    """A second server whose only hashing place stays taken."""
    alone = {"HASHING_CONCURRENCY": "1", "HASHING_QUEUE": "0"}
    with second.running(**alone, **environment) as address:
        at_server = here.at(address)
        with httpx.Client(base_url=at_server.address) as http:
            http.post(API, content=_SECRETS, headers={"Content-Type": "application/json"})
            with stopped_hashing(address):
                with pytest.raises(httpx.ReadTimeout):
                    http.post("/api/admin/sign-in", timeout=0.5, **HASHING["/api/admin/sign-in"])
                yield at_server


def status(connection: Kept, *parts: bytes) -> int:
    connection.send(*parts)
    return connection.read().status


def whole(answer: Answer) -> tuple[dict[str, str], bytes]:
    """The answer with the same word for the id of the request and the time."""
    request_id = answer.headers["x-request-id"]
    headers = answer.headers | {"x-request-id": "id", "date": "now"}
    return headers, answer.body.replace(request_id.encode(), b"id")


def test_connections_in_a_flood(acme):
    with flood(acme, GUNICORN_CMD_ARGS="--keep-alive 2") as here:
        prefix = here.address.partition("/t/")[2]
        api, page = f"/t/{prefix}{API}", f"/t/{prefix}/sign-in"
        form = sign_in(path=page, body=b"identifier=a&password=b").replace(JSON.encode(), FORM.encode())
        for request in (sign_in(path=api), form):
            with Kept(here.address) as new, Kept(here.address) as parsed:
                refused = []
                for _ in range(2):  # the first and the second request of a connection
                    new.send(request)
                    refused.append(new.read())
                parsed.send(request[:-1])
                time.sleep(0.1)
                parsed.send(request[-1:])
                refused.append(parsed.read())
                parsed.send(request)
                refused.append(parsed.read())

                assert [answer.status for answer in refused] == [503] * 4
                assert len({answer.headers["x-request-id"] for answer in refused}) == 4
                assert [whole(answer) for answer in refused] == [whole(refused[0])] * 4
                assert new.get("/.well-known/jwks.json").status == 200
                assert status(new, request) == 503
                assert new.is_closed()  # after two seconds
        with Kept(here.address) as several:
            assert status(several, sign_in(path=api) * 2) == 503
            assert several.read().status == 503
        with Kept(here.address) as last:
            assert status(last, sign_in("Connection: close", path=api)) == 503
            assert last.is_closed()
        with Kept(here.address) as ended:
            ended.send(sign_in(path=api))
            ended.end()
            assert ended.read().status == 503
            assert ended.is_closed()
        with Kept(here.address) as silent:
            started = time.monotonic()
            assert silent.is_closed()
            assert 1.8 < time.monotonic() - started < 4
        with Kept(here.address) as malformed:
            assert status(malformed, b"POST /sign-in HTTP/9\r\n\r\n") == 400
