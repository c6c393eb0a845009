"""Clients that announce a large body, send three bytes of it and disconnect."""

import re
import socket
import uuid
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.test import RequestFactory
from django.urls import get_resolver
from prometheus_client.parser import text_string_to_metric_families

from tests.support import management, metrics, operators, second
from tests.support.endpoints import methods, routes
from tests.support.threads import wait_until

LENGTH = 70_000  # bytes: more than the loop of a worker reads before a thread serves the request
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
SITE = "POST /admin/roles/role/do/create/"
PROTOCOL = [f"POST /oidc/{name}" for name in ("token", "revoke", "userinfo", "authorize", "end-session")]


def all_routes() -> list[str]:
    """Every method and path of the URL map that may have a body. ``SITE`` stands for the operators' site."""
    found = [
        f"{method} {path}"
        for path, _, pattern in routes(get_resolver())
        for method in sorted(methods(pattern) - {"GET"})
    ]
    assert len(found) > 100
    return [*found, SITE]


def get_type(path: str) -> str:
    return JSON if path.startswith("/api/") else FORM


def get_rights(world) -> dict[str, str]:
    """The headers of somebody whose body is read everywhere: the caller of the API and of the site."""
    operator = operators.at(world, operators.administrator())
    cookies = [f"{cookie.name}={cookie.value}" for cookie in operator.http.cookies.jar]
    return {
        "Authorization": f"Bearer {management.superuser(world).token}",
        "Cookie": "; ".join(cookies),
    }


class Aborted:
    """The body of a client that has disconnected."""

    def read(self, *_: int) -> bytes:
        raise OSError("the client has disconnected")

    readline = read


@pytest.fixture
def rights(acme, default_tenant):
    return get_rights(acme)


def test_attack_AP38_no_route_fails_if_the_client_disconnects(rights, caplog):
    server, failed = WSGIHandler(), []

    def ask(route: str) -> int:
        method, path = route.split()
        named, statuses = re.sub(r":\w+", str(uuid.uuid4()), path), []
        request = RequestFactory(headers=rights).generic(method, named, b"a=1", get_type(path))
        environ = request.environ | {"wsgi.input": Aborted(), "CONTENT_LENGTH": str(LENGTH)}
        start: Any = lambda status, _: statuses.append(int(status[:3]))  # noqa: E731
        server(environ, start).close()
        return statuses[0]

    for route in all_routes():
        caplog.clear()
        if ask(route) >= 500 or any(record.exc_info for record in caplog.records):
            failed.append(route)

    assert failed == []
    assert {ask(route) for route in [*PROTOCOL, "POST /api/v1/users"]} == {400}


@pytest.fixture(scope="module")
def measured(address):
    with second.running(METRICS_TOKEN=metrics.TOKEN) as served:
        yield served


def abort(address: str, route: str) -> None:
    """Send the head of a request and three bytes of its body, and disconnect."""
    parts = urlsplit(address)
    headers = [f"Host: {parts.netloc}", f"Content-Type: {FORM}", f"Content-Length: {LENGTH}"]
    with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=30) as connection:
        connection.sendall("\r\n".join([f"{route} HTTP/1.1", *headers, "", "a=1"]).encode())


def get_statuses(address: str) -> list[str]:
    """Return the statuses of all responses to POST."""
    families = text_string_to_metric_families(metrics.exposition(address).text)
    samples = [sample for family in families for sample in family.samples]
    return [
        sample.labels["status"]
        for sample in samples
        if sample.name == "gatehouse_http_requests_total" and sample.labels["method"] == "POST"
        for _ in range(int(sample.value))
    ]


def test_attack_AP38_the_server_logs_no_traceback(measured):
    log = settings.VAR / "server.log"
    size = log.stat().st_size

    for route in PROTOCOL:
        abort(measured, route)

    assert wait_until(lambda: len(get_statuses(measured)) == len(PROTOCOL))
    assert set(get_statuses(measured)) == {"400"}
    assert "Traceback" not in log.read_bytes()[size:].decode(errors="replace")
