"""Small attacks on requests: wrong types, HEAD, what the log repeats, origins without TLS."""

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.urls import get_resolver
from rest_framework.serializers import CharField

from tests.support import second, wire
from tests.support.cast import default_world
from tests.support.endpoints import methods, routes, written_endpoints
from tests.support.management import refusal_of, superuser

NOBODY = {"username": "x", "password": "y"}
GETS = sorted(
    {
        endpoint.path
        for endpoint in written_endpoints()
        if endpoint.method == "GET" and ":" not in endpoint.path and "*" not in endpoint.path
    }
)


def open_texts() -> list[tuple[str, str, Any]]:
    """Each text that a JSON route without a token takes: path, name, and the serializer that takes it."""
    found = []
    for path, _, pattern in routes(get_resolver()):
        view = getattr(pattern.callback, "cls", None)
        if "POST" in methods(pattern) and view is not None and view.authentication_classes == ():
            serializer = view.request_serializers.get("post")
            if serializer is None:  # a viewset of the account, which asks for the session first
                continue
            found += [
                (path, name, serializer)
                for name, field in serializer().fields.items()
                if isinstance(field, CharField)
            ]
    return found


class TestTypes:
    """A number was taken for its digits: `{"username": 12345}`."""

    def test_there_are_texts_of_every_route(self):
        assert {path for path, _, _ in open_texts()} == {
            endpoint.path
            for endpoint in written_endpoints()
            if endpoint.method == "POST" and endpoint.path.startswith(("/api/interaction/", "/api/admin/"))
        }

    @pytest.mark.parametrize(("path", "name"), [(path, name) for path, name, _ in open_texts()])
    @pytest.mark.parametrize("value", [12345, 1.5, True, ["x"], {"a": "x"}], ids=str)
    def test_decision_H3_what_is_no_text_is_400(self, acme, path, name, value):
        world = default_world() if path.startswith("/api/admin/") else acme
        serializer = next(taker for at, _, taker in open_texts() if at == path)
        body = dict.fromkeys(serializer().fields, "x") | {"identifier_type": "email"}
        body |= {"interaction_type": "sign_in", "interaction": "", name: value}

        answer = world.post(path, json=body)

        assert f"{name}: " in refusal_of(answer, 400)

    @pytest.mark.parametrize("digits", [9, 11, 20, 4_000])
    def test_decision_H5_a_page_past_every_end_is_empty(self, acme, digits):
        superuser(acme)

        answer = superuser(acme).get("/users", page="9" * digits)

        assert answer.status_code == 200
        assert answer.json()["result"]["data"] == []
        assert answer.json()["result"]["total"] == 0

    def test_decision_H5_a_page_of_any_size_has_a_hundred_rows_at_most(self, acme):
        assert superuser(acme).get("/users", page_size="9" * 30).json()["result"]["page_size"] == 100


class TestHead:
    """RFC 9110 section 9.3.2: the server MUST NOT send content in the response."""

    @pytest.mark.parametrize("path", GETS)
    def test_has_no_body_and_no_warning_in_the_log(self, acme, path):
        world = default_world() if path in {"/healthz", "/readyz", "/metrics"} else acme
        log = settings.VAR / "server.log"
        before = log.stat().st_size

        answer = wire.send(world.address, "HEAD", path.encode())

        assert answer.body == b""
        assert answer.status in {200, 303, 302, 400, 401, 403, 404, 405}
        assert b"gunicorn" not in log.read_bytes()[before:]

    def test_says_how_long_the_body_of_a_get_is(self, acme):
        path = "/.well-known/openid-configuration"

        head, get = wire.send(acme.address, "HEAD", path.encode()), acme.get(path)

        assert int(head.headers["content-length"]) == len(get.content)


class TestLog:
    @pytest.mark.parametrize(
        "line",
        [
            b"GET /social/callback?code=secret-of-somebody HTTP/9.9\r\n\r\n",
            b"GET /social/callback?code=secret-of-somebody\r\n\r\n",
            b"G=T /social/callback?code=secret-of-somebody HTTP/1.1\r\n\r\n",
            b"GET /cb?code=secret-of-somebody HTTP/1.1\r\nBad Header: secret-of-somebody\r\n\r\n",
            b"GET / HTTP/1.1\r\nsecret-of-somebody\r\n\r\n",
            b"PROXY TCP4 secret-of-somebody 1.1.1.1 1 1\r\nGET /?code=secret-of-somebody HTTP/1.1\r\n\r\n",
            b"POST /?code=secret-of-somebody HTTP/1.1\r\nTransfer-Encoding: secret-of-somebody\r\n\r\n",
        ],
        ids=range(7),
    )
    def test_attack_AS03_a_request_that_cannot_be_parsed_is_not_repeated_in_it(self, acme, line):
        log = settings.VAR / "server.log"
        before = log.stat().st_size

        answer = wire.send_raw(acme.address, line)

        time.sleep(0.1)
        said = log.read_bytes()[before:]
        assert b"400" in answer or b"501" in answer
        assert b"secret-of-somebody" not in said
        assert b"Invalid request from ip=127.0.0.1" in said

    def test_every_line_of_a_request_names_its_tenant(self, acme, rival):
        log = settings.VAR / "server.log"
        before = log.stat().st_size
        with second.running(LOG_FORMAT="json", LOG_REQUESTS="true") as address:
            root = httpx.Client(base_url=address)
            expected: dict[str, str] = {}

            def ask(number: int) -> None:
                world = (acme, rival, None)[number % 3]
                place = world.at(address).address if world else address
                # Not found by Django itself, found, and signed in by an administrator of all tenants.
                for answer in (
                    httpx.get(f"{place}/nothing/here/{number}", timeout=60),
                    httpx.get(f"{place}/.well-known/jwks.json", timeout=60),
                    httpx.post(f"{place}/api/admin/sign-in", json=NOBODY, timeout=60),
                ):
                    expected[answer.headers["X-Request-Id"]] = world.tenant.pk if world else "default"

            with ThreadPoolExecutor(6) as pool:
                list(pool.map(ask, range(24)))
            root.close()
        lines = [json.loads(line) for line in log.read_text()[before:].splitlines() if line.startswith("{")]
        of_requests = [line for line in lines if line.get("request_id") in expected]

        assert {line["logger"] for line in of_requests} >= {"gatehouse.requests", "django.request"}
        assert len(of_requests) >= 72
        assert [line for line in of_requests if line["tenant_id"] != str(expected[line["request_id"]])] == []


class TestOrigin:
    """S2: behind a proxy that ends TLS, a page without TLS passed for a page of Gatehouse."""

    @pytest.fixture
    def http(self, settings, address):
        settings.BASE_URL = "https://id.example"
        settings.CSRF_TRUSTED_ORIGINS = ["https://id.example"]
        transport = httpx.WSGITransport(app=WSGIHandler())
        with httpx.Client(transport=transport, base_url="http://id.example") as http:
            yield http

    @pytest.mark.parametrize("path", ["/sign-in", "/register", "/admin/login/"])
    def test_attack_AS02_a_form_of_a_page_without_tls_is_refused(self, http, path):
        page = http.get(path)
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)[:1]
        sent = {"csrfmiddlewaretoken": token, "identifier": "x", "username": "x", "password": "y"}

        without = http.post(path, data=sent, headers={"Origin": "http://id.example"})
        with_tls = http.post(path, data=sent, headers={"Origin": "https://id.example"})

        assert without.status_code == 403
        assert with_tls.status_code != 403

    def test_what_other_origins_may_call_they_still_may(self, http):
        answer = http.post(
            "/oidc/token", data={"grant_type": "x"}, headers={"Origin": "http://localhost:3000"}
        )

        assert answer.status_code in {400, 401}
