"""What the worker's loop refuses is answered as the middleware of a thread would answer it, byte for byte."""

import socket
import time
from io import BytesIO
from typing import Any
from unittest import mock
from urllib.parse import urlsplit

import httpx
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from prometheus_client import REGISTRY

from config.server import early_refusals
from config.server.wsgi_responses import Whole, call
from identity.users import passwords
from tests.support import second
from tests.support.cast import PASSWORD
from tests.support.hashing_routes import HASHING, as_form, as_json
from tests.support.stopped_hashing import stopped_hashing
from tests.support.threads import at_once

HALF_A_BODY = (
    b"POST /oidc/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: 100000\r\n\r\n" + b"a" * 70_000
)
_CHOICES = [{}, {"Accept-Language": "de"}, {"Cookie": f"{settings.LANGUAGE_COOKIE_NAME}=ja"}]


@pytest.fixture(params=["root", "tenant", "unknown tenant"])
def prefix(request, acme):
    return {"root": "", "tenant": f"/t/{acme.tenant.slug}", "unknown tenant": "/t/nobody"}[request.param]


def environ_of(path: str, *, chunked: bool = False, **sent: Any) -> dict[str, Any]:
    """The environment of a request as ``config.server.wsgi_requests`` builds it."""
    request = httpx.Request("POST", f"http://gatehouse.example{path}", **sent)
    body = request.read()
    environ = {
        "REQUEST_METHOD": "POST",
        "SCRIPT_NAME": "",
        "PATH_INFO": request.url.path,
        "QUERY_STRING": request.url.query.decode(),
        "SERVER_PROTOCOL": "HTTP/1.1",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "80",
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "http",
        "wsgi.input": BytesIO(body),
        "wsgi.errors": mock.Mock(),
    }
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key.startswith("CONTENT_") else f"HTTP_{key}"] = value
    if chunked:
        del environ["CONTENT_LENGTH"]
        environ["HTTP_TRANSFER_ENCODING"] = "chunked"
    return environ


def in_a_thread(environ: dict[str, Any]) -> Whole:
    answer = call(WSGIHandler(), environ, mock.Mock())
    assert answer is not None
    return answer


def bytes_of(answer: Whole) -> tuple[int, list[tuple[bytes, bytes]], bytes]:
    """Status, headers and body, with the same word for the id of the request."""
    headers = answer.start["headers"]
    request_id = dict(headers)[b"X-Request-Id"]
    kept = [(name, b"id" if name == b"X-Request-Id" else value) for name, value in headers]
    return answer.start["status"], kept, answer.body["body"].replace(request_id, b"id")


@pytest.mark.parametrize("chosen", _CHOICES, ids=["english", "german by header", "japanese by cookie"])
@pytest.mark.parametrize("path", HASHING)
def test_a_refusal_is_the_answer_of_a_thread(prefix, crowded, path, chosen):
    early = early_refusals.admit(environ_of(prefix + path, headers=chosen, **HASHING[path]))
    late = in_a_thread(environ_of(prefix + path, headers=chosen, **HASHING[path]))

    assert isinstance(early, Whole)
    assert early.start["status"] == 503
    assert bytes_of(early) == bytes_of(late)


@pytest.mark.parametrize(
    ("path", "language"), [("/sign-in?ui_locales=fr", b"fr"), ("/sign-in?ui_locales=xx&a=b", b"en")]
)
def test_the_language_of_the_address_is_chosen(crowded, path, language):
    early = early_refusals.admit(environ_of(path, **HASHING["/sign-in"]))

    assert isinstance(early, Whole)
    assert dict(early.start["headers"])[b"Content-Language"] == language
    assert bytes_of(early) == bytes_of(in_a_thread(environ_of(path, **HASHING["/sign-in"])))


def test_a_chunked_body_is_read(crowded):
    fields = {"username": "somebody", "password": PASSWORD}

    early = early_refusals.admit(environ_of("/api/interaction/register", chunked=True, json=fields))

    assert isinstance(early, Whole)


def test_a_charset_that_django_cannot_use_is_ignored(crowded):
    headers = {"Content-Type": "application/x-www-form-urlencoded; charset=hex"}
    environ = environ_of("/register", content=f"password={PASSWORD}".encode(), headers=headers)

    assert isinstance(early_refusals.admit(environ), Whole)


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/register", as_form(identifier="a@x.example")),
        ("/api/interaction/register", as_json(username="somebody", password="")),
        ("/api/interaction/register", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
        ("/oidc/token", as_form(grant_type="password", password=PASSWORD)),
        ("/nothing", as_form(password=PASSWORD)),
        ("/register", {"content": b"a=1&" * 1_001, "headers": {"Content-Type": "x-www-form-urlencoded"}}),
    ],
)
def test_what_needs_no_place_is_left_to_a_thread_with_its_whole_body(prefix, crowded, path, sent):
    environ = environ_of(prefix + path, **sent)
    whole = environ["wsgi.input"].getvalue()

    assert early_refusals.admit(environ) is None
    assert environ["wsgi.input"].read() == whole


def test_a_form_that_cannot_be_parsed_is_left_to_a_thread(crowded, caplog):
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    environ = environ_of("/register", content=b"a=1&" * 1_001, headers=headers)

    assert early_refusals.admit(environ) is None
    assert not caplog.records  # the thread logs it
    assert in_a_thread(environ).start["status"] == 400


def test_a_failure_of_the_refusal_is_logged_without_the_request_and_left_to_a_thread(
    crowded, monkeypatch, caplog
):
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(early_refusals, "build", fail)
    environ = environ_of("/sign-in", **HASHING["/sign-in"])
    whole = environ["wsgi.input"].getvalue()

    assert early_refusals.admit(environ) is None
    assert environ["wsgi.input"].read() == whole
    [logged] = [record for record in caplog.records if record.name == early_refusals.__name__]
    assert logged.exc_info[0] is RuntimeError
    assert PASSWORD not in caplog.text


@pytest.mark.parametrize("name", ["LOG_REQUESTS", "TRACING"])
def test_requests_that_are_logged_or_traced_are_left_to_threads(crowded, settings, name):
    setattr(settings, name, True)

    assert early_refusals.admit(environ_of("/sign-in", **HASHING["/sign-in"])) is None


def test_a_refusal_is_counted_as_in_a_thread(crowded, settings):
    settings.METRICS_TOKEN = "a token of metrics"
    labels = {"method": "POST", "route": "pages:sign-in", "status": "503"}
    counted = [REGISTRY.get_sample_value("gatehouse_http_requests_total", labels) or 0]

    for serve in (early_refusals.admit, in_a_thread):
        serve(environ_of("/sign-in", **HASHING["/sign-in"]))
        counted.append(REGISTRY.get_sample_value("gatehouse_http_requests_total", labels) or 0)

    assert [later - counted[0] for later in counted] == [0, 1, 2]


def test_a_place_is_used_by_the_thread_and_released_after_the_request(monkeypatch):
    monkeypatch.setattr(passwords, "_queue", passwords.HashingQueue(running=1, waiting=0))
    first = early_refusals.admit(environ_of("/sign-in", **HASHING["/sign-in"]))
    assert isinstance(first, passwords.Place)
    assert isinstance(early_refusals.admit(environ_of("/sign-in", **HASHING["/sign-in"])), Whole)

    with first:
        served = in_a_thread(environ_of("/sign-in", **HASHING["/sign-in"]))

    assert served.start["status"] == 403  # without the token of a form
    assert isinstance(early_refusals.admit(environ_of("/sign-in", **HASHING["/sign-in"])), passwords.Place)


def test_a_refusal_needs_no_thread_and_a_place_is_free_again_after_its_hash(acme):
    with (
        second.running(HASHING_CONCURRENCY="1", HASHING_QUEUE="2", THREADS="4") as address,
        httpx.Client(base_url=acme.at(address).address) as http,
        socket.create_connection(("127.0.0.1", urlsplit(address).port)) as slow,
    ):
        assert sign_in(http).status_code != 503
        with stopped_hashing(address):
            slow.sendall(HALF_A_BODY)  # has a thread
            left = at_once(3, lambda _: leave(http))  # have the other threads and all places
            refused = [sign_in(http).status_code for _ in range(3)]
        deadline = time.monotonic() + 20
        while sign_in(http).status_code == 503 and time.monotonic() < deadline:
            time.sleep(0.05)

        assert left == [True] * 3
        assert refused == [503] * 3
        assert sign_in(http).status_code != 503


def leave(http: httpx.Client) -> bool:
    """Sign in, and do not wait for the answer."""
    try:
        sign_in(http, timeout=0.5)
    except httpx.ReadTimeout:
        return True
    return False


def sign_in(http: httpx.Client, timeout: float = 5) -> httpx.Response:
    fields = {"username": "nobody", "password": PASSWORD}
    return http.post("/api/admin/sign-in", json=fields, timeout=timeout)
