"""Public documents: what the worker's loop answers, what it leaves to Django, and how fresh an answer is."""

import io
import time
import traceback
from importlib import import_module
from threading import Thread
from typing import Any
from wsgiref.util import setup_testing_defaults

import httpx
import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from gunicorn.asgi.parser import CallbackRequest, PythonProtocol

from config.server.wsgi_requests import FAILURE, Failure
from identity.core import tenancy
from identity.tenants import middleware as tenants
from identity.tenants import services as tenant_services
from identity.users import hashing_process
from interaction.experience import services as experiences
from oidc.keys import retirement
from oidc.keys import services as keys
from oidc.keys.models import SigningKey
from oidc.settings import services as oidc_settings
from tests.support import factors, second, wire
from tests.support.independent import kids

documents = import_module("config.server.documents")
responses = import_module("config.server.document_responses")
raw_responses = import_module("config.server.raw_responses")

JWKS = "/.well-known/jwks.json"
DISCOVERY = "/.well-known/openid-configuration"
DOCUMENTS = [JWKS, DISCOVERY, f"/oidc{DISCOVERY}", "/.well-known/oauth-authorization-server"]
TWO = "urn:service:acr:2fa"
ATTEMPTS = 6  # on new connections, so that each of the two workers answers some


def parse(path: str, method: str = "GET", *headers: str, version: str = "HTTP/1.1") -> CallbackRequest:
    """Return a request as gunicorn's parser makes it."""
    parser = PythonProtocol()
    parser.feed("\r\n".join([f"{method} {path} {version}", "Host: x", *headers, "", ""]).encode())
    return CallbackRequest.from_parser(parser)


def serve(path: str, method: str = "GET", *headers: str) -> Any:
    """Return the status, headers and body of the loop's answer, or None if Django must serve the request."""
    wanted = documents.find(parse(path, method, *headers))
    tenant = documents.find_tenant(wanted) if wanted else None
    if tenant is None:
        return None
    document = documents.read(tenant, documents.DOCUMENTS[wanted.route])
    answer = responses.build(wanted, document, started=time.perf_counter())
    response: bytes = raw_responses.build(answer, wanted.method, wanted.version, close=False)
    head, _, body = response.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    return first.partition(" ")[2], dict(line.split(": ", 1) for line in lines), body


def ask(path: str, **more: Any) -> tuple[str, dict[str, str], bytes]:
    """Ask the application of production, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hashing_process, "enable", lambda: None)
        application = import_module("config.wsgi").application
    environ = {"PATH_INFO": path, "QUERY_STRING": "", "wsgi.input": io.BytesIO()} | more
    setup_testing_defaults(environ)
    begun = []
    body = b"".join(application(environ, lambda *head: begun.append(head)))
    ((status, headers),) = begun
    return status, dict(headers), body


@pytest.fixture
def known(acme):
    """The path prefix of a tenant that this process has looked up."""
    prefix = f"/t/{acme.tenant.slug}"
    Client().get(f"{prefix}{JWKS}")
    return prefix


class TestTheSameAnswer:
    """The loop answers what the view of the route answers."""

    pytestmark = pytest.mark.usefixtures("compared")

    @pytest.mark.parametrize("path", DOCUMENTS)
    @pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "POST", "PUT", "DELETE", "NONSENSE"])
    def test_to_every_method(self, acme, address, path, method):
        for base in (address, acme.address):
            httpx.request(method, f"{base}{path}")

    @pytest.mark.parametrize("path", DOCUMENTS)
    @pytest.mark.parametrize(
        "header",
        [
            *(
                "Origin: https://rp.example",
                "Origin: null",
                "Cookie: a=b",
                "Range: bytes=0-3",
                "Accept: text/html",
            ),
            *("Accept-Language: de", "Authorization: Bearer x", "Content-Type: text/plain; charset=none"),
            *("If-None-Match: *", 'If-None-Match: "x"', "If-None-Match: {etag}", "If-None-Match: W/{etag}"),
            *('If-None-Match: "x", {etag}', "If-None-Match:", "If-None-Match: {etag}x", 'If-Match: "x"'),
            *("If-Match: *", "If-Match: {etag}", "If-Range: {etag}"),
            "If-Modified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
            "If-Modified-Since: Sat, 29 Oct 2094 19:43:31 GMT",
            "If-Unmodified-Since: Sat, 29 Oct 1994 19:43:31 GMT",
        ],
    )
    def test_to_every_header(self, acme, path, header):
        etag = acme.get(path).headers["ETag"]
        name, _, value = header.format(etag=etag).partition(":")

        for method in ("GET", "HEAD"):
            httpx.request(method, f"{acme.address}{path}", headers={name: value.strip()})

    @pytest.mark.parametrize("query", ["?", "?a=b", "?a=%ff", "?%00"])
    def test_to_every_query(self, acme, query):
        for path in DOCUMENTS:
            acme.get(path + query)

    @pytest.mark.parametrize(
        "path",
        [
            *("//.well-known/jwks.json", "/.well-known//jwks.json", "/.well-known/jwks.json/"),
            *("/%2ewell-known/jwks.json", "/.well-known%2fjwks.json", "/.well-known/jwks.json%00"),
            *("/.well-known/JWKS.json", "/./.well-known/jwks.json", "/x/../.well-known/jwks.json"),
            *("/.well-known/jwks.json;x", "/.well-known/jwks.json%3f", "/.well-known/jwks.json%20"),
            *("/.well-known/jwks.json%ff", "/.well-known/jwks%2ejson", "/.well-known/jwks.json%0a"),
        ],
    )
    def test_to_every_spelling_of_a_path(self, acme, address, django_server, path):
        for prefix in ("", f"/t/{acme.tenant.slug}"):
            place = f"{prefix}{path}".encode()
            ours, theirs = (wire.send(server, "GET", place) for server in (address, django_server))

            assert ours.status == theirs.status
            if ours.status == 200:
                assert ours.body == theirs.body

    @pytest.mark.parametrize(
        "prefix", ["/t/nobody", "/t/default", "/t/", "/t", "/t/{acme}/t/{acme}", "/T/{acme}"]
    )
    def test_to_every_spelling_of_a_tenant(self, acme, address, prefix):
        place = prefix.format(acme=acme.tenant.slug)
        for path in DOCUMENTS:
            assert httpx.get(f"{address}{place}{path}").status_code == 404
        httpx.get(f"{address}/.well-known/openid-configuration{place}")
        httpx.get(f"{address}{JWKS}{place}")

    @pytest.mark.parametrize("body", [b"{}", b"x" * 100_000])
    def test_to_a_body(self, acme, address, django_server, body):
        chunks = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        for path in DOCUMENTS:
            httpx.request("GET", f"{acme.address}{path}", content=body)
            head = (
                f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            ours, theirs = (
                wire.send_raw(server, head.encode() + chunks) for server in (address, django_server)
            )
            assert ours.partition(b"\r\n")[0] == theirs.partition(b"\r\n")[0]
            assert ours.partition(b"\r\n\r\n")[2] == theirs.partition(b"\r\n\r\n")[2]

    def test_whatever_changes(self, acme):
        factors.switch_on(acme)
        with acme.active():
            oidc_settings.change({"acr_aliases": [{"value": "urn:strong", "level": TWO}]}, is_proven=True)
            keys.ensure("RS256")
            keys.prepare()

        for path in DOCUMENTS:
            assert acme.get(path).status_code == 200


class TestWhatIsAnswered:
    @pytest.mark.parametrize("path", DOCUMENTS)
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    def test_a_document_with_one_statement(self, known, path, method):
        for place in (path, f"{known}{path}"):
            serve(place)

            with CaptureQueriesContext(connection) as queries:
                answer = serve(place, method)

            assert answer is not None
            assert answer[0] == "200 OK"
            assert len(queries) == 1

    def test_metadata_whose_tenant_is_at_the_end(self, known):
        answer = serve(f"{DISCOVERY}{known}")

        assert answer is not None
        assert answer[2] == serve(f"{known}{DISCOVERY}")[2]

    def test_an_etag(self, known):
        etag = serve(f"{known}{JWKS}")[1]["ETag"]

        status, headers, body = serve(f"{known}{JWKS}", "GET", f"If-None-Match: {etag}")

        assert (status, body) == ("304 Not Modified", b"")
        assert {"Content-Type", "Content-Length", "Content-Security-Policy"}.isdisjoint(headers)

    @pytest.mark.parametrize(
        ("method", "headers"),
        [
            *(("POST", []), ("OPTIONS", []), ("GET", ["Content-Length: 2"]), ("GET", ["Content-Length: 0"])),
            *(("GET", ["Transfer-Encoding: chunked"]), ("GET", ["If-Match: *"]), ("GET", ["Expect: x"])),
            *(("GET", ["If-Modified-Since: x"]), ("HEAD", ["If-Unmodified-Since: x"])),
        ],
    )
    def test_no_unusual_request(self, known, method, headers):
        assert serve(f"{known}{JWKS}", method, *headers) is None

    @pytest.mark.parametrize(
        "path",
        [
            *("/", "/.well-known/nothing", "/oidc/token", "/readyz", "/t/{acme}/sign-in", f"{JWKS}?a"),
            *(f"{JWKS}%00", f"/%2e{JWKS[2:]}", f"http://x{JWKS}", f"/t/Acme{JWKS}", f"/t/{'a' * 300}{JWKS}"),
        ],
    )
    def test_no_other_path(self, acme, path):
        assert serve(path.format(acme=acme.tenant.slug)) is None

    @pytest.mark.parametrize("name", ["LOG_REQUESTS", "TRACING"])
    def test_no_request_that_is_logged_or_traced(self, known, settings, name):
        setattr(settings, name, True)

        assert serve(f"{known}{JWKS}") is None

    def test_no_tenant_that_is_not_cached(self, known, monkeypatch):
        later = time.monotonic() + tenants._CACHE_SECONDS
        monkeypatch.setattr("identity.tenants.middleware.time.monotonic", lambda: later)

        assert serve(f"{known}{JWKS}") is None

    def test_in_the_tenant_alone(self, known):
        serve(f"{known}{JWKS}")

        with pytest.raises(tenancy.NoActiveTenant):
            tenancy.scope()

    def test_the_number_of_key_sets_in_memory_is_limited(self, acme, rival, monkeypatch):
        views = import_module("oidc.keys.views")
        monkeypatch.setattr(views, "_MOST", 2)
        views._kept.clear()
        for world in (acme, rival, acme, rival):
            for _ in range(2):
                with world.active():
                    keys.rotate()
                    listed = views.get_key_set()
                assert len(views._kept) <= 2
                assert listed.body == httpx.get(f"{world.address}{JWKS}").content


class TestFailures:
    """If the read of a document fails, Django's handler gets its exception."""

    def test_the_view_raises_it_without_a_second_attempt(self, known):
        failure = OperationalError("connection to 10.1.2.3 refused")

        with CaptureQueriesContext(connection) as queries:
            status, headers, body = ask(f"{known}{JWKS}", **{FAILURE: Failure.of(failure)})

        assert status == "503 Service Unavailable"
        assert int(headers["Retry-After"]) > 0
        assert b"temporarily_unavailable" in body
        assert b"10.1.2.3" not in body
        assert [query["sql"] for query in queries if "keys_signingkey" in query["sql"]] == []

    def test_requests_that_share_it_do_not_lengthen_its_traceback(self, known):
        failure = Failure.of(OperationalError("away"))
        lengths = []
        for _ in range(3):
            ask(f"{known}{JWKS}", **{FAILURE: failure})
            lengths.append(len(list(traceback.walk_tb(failure.error.__traceback__))))

        assert lengths == lengths[:1] * 3

    def test_of_a_read_returns_its_connection_to_the_pool(self, acme, known, monkeypatch, settings):
        settings.DATABASE_POOL = 2
        monkeypatch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)  # as with a pool
        tenant, held = acme.tenant.to_active(), []

        def fail() -> None:
            held.append(SigningKey.objects.count())
            raise ZeroDivisionError

        def read() -> None:
            with pytest.raises(ZeroDivisionError):
                documents.read(tenant, fail)
            held.append(connection.connection is not None)
            connection.close()

        thread = Thread(target=read)
        thread.start()
        thread.join()

        assert held == [1, False]

    def test_no_header_can_name_a_failure(self, acme):
        for name in ("gatehouse.failure", "Gatehouse-Failure"):
            assert acme.get(JWKS, headers={name: "x"}).status_code == 200


class TestChanges:
    """A change counts at once on both workers."""

    def same(self, world, path):
        """Return the document that every worker serves."""
        (text,) = {httpx.get(f"{world.address}{path}").text for _ in range(ATTEMPTS)}
        return text

    def test_of_keys(self, acme):
        first = kids(acme)[0]
        for _ in range(3):
            with acme.active():
                prepared = str(keys.prepare().pk)
            assert self.same(acme, JWKS).index(first) < self.same(acme, JWKS).index(prepared)

            with acme.active():
                keys.rotate()
            assert self.same(acme, JWKS).index(prepared) < self.same(acme, JWKS).index(first)

            with acme.active():
                keys.remove(SigningKey.objects.get(pk=first))
            assert first not in self.same(acme, JWKS)
            first = prepared

    def test_of_algorithms(self, acme):
        for _ in range(2):
            with acme.active():
                keys.ensure("EdDSA")
            assert "EdDSA" in self.same(acme, DISCOVERY)

            with acme.active():
                retirement.retire("EdDSA")
            assert "EdDSA" not in self.same(acme, DISCOVERY)
            assert "EdDSA" in self.same(acme, JWKS)

    def test_of_second_factors_and_aliases(self, acme):
        for number in range(2):
            factors.switch_on(acme)
            assert TWO in self.same(acme, DISCOVERY)

            alias = f"urn:alias:{number}"
            with acme.active():
                oidc_settings.change({"acr_aliases": [{"value": alias, "level": TWO}]}, is_proven=True)
            assert alias in self.same(acme, DISCOVERY)

            with acme.active():
                experiences.change({"mfa": {"factors": []}}, is_proven=True)
            assert "acr_values_supported" not in self.same(acme, DISCOVERY)

    def test_a_deleted_tenant_is_unknown_after_five_seconds(self, acme):
        for path in DOCUMENTS:
            self.same(acme, path)
        tenant_services.remove(acme.tenant)

        time.sleep(tenants._CACHE_SECONDS + 0.2)

        for path in DOCUMENTS:
            assert {httpx.get(f"{acme.address}{path}").status_code for _ in range(ATTEMPTS)} == {404}


def test_a_request_is_counted(address):
    token = "a-token-of-the-metrics-for-this-test"
    with second.running(METRICS_TOKEN=token) as served:
        for path in DOCUMENTS:
            httpx.get(f"{served}{path}")
            httpx.head(f"{served}{path}")
        figures = httpx.get(f"{served}/metrics", headers={"Authorization": f"Bearer {token}"}).text

    for route in documents.DOCUMENTS:
        # The server has been asked for the key set until it answered.
        counted = figures.partition(f'requests_total{{method="HEAD",route="{route}",status="200"}} ')[2]
        assert counted.partition("\n")[0] == "1.0"
        assert f'gatehouse_http_request_seconds_count{{route="{route}"}}' in figures


def test_the_view_is_still_there(known):
    """The application answers the same without the loop."""
    status, headers, body = serve(f"{known}{DISCOVERY}")
    their_status, their_headers, their_body = ask(f"{known}{DISCOVERY}")

    assert (status, body) == (their_status, their_body)
    made_later = {"X-Request-Id", "Server", "Date"}
    assert {name: headers[name] for name in headers.keys() - made_later} == {
        name: their_headers[name] for name in their_headers.keys() - made_later
    }
    assert settings.BASE_URL.encode() in body
