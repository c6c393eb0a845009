"""What is answered where no view answers, in the shape of its path and without a trace of code."""

import errno
import re
from urllib.parse import urlencode

import httpx
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from tests.support import management, second, wire
from tests.support.error_shapes import Shape, find_shape, is_envelope, is_oauth, is_page


@pytest.fixture(params=["root", "tenant"])
def place(request, address, acme):
    """Where it is asked: every shape is the same below a prefix."""
    return address if request.param == "root" else acme.address


class TestNotFound:
    @pytest.mark.parametrize(
        "path",
        [
            *("/api/", "/api/nothing", "/api/v1/nothing", "/api/v2/users", "/api/admin/me/"),
            "/api/admin/../x",
            *("/api/%00", "/api/%ff", "/api/admin/me%2f", "/api/admin/sign-in/x", "/.well-known/nothing"),
            *("/nothing", "/sign-in/", "/account/x", "/oidc/", "/oidc/nothing", "/administration"),
            "/static/nothing.css",
            *("/.env", "/.git/config", "/__debug__/", "/metrics", "/server-status", "/config/settings.py"),
            *("/static/../config/settings.py", "/static/..%2f..%2fmanage.py", "/oidc/authorize/not-an-id"),
            *("//", "/api//admin/me", "/%2e%2e/etc/passwd", "/sign-in;x=1", "/%f0%9f%98%80"),
        ],
    )
    def test_decision_H3_case_K10_unknown_paths_are_404(self, place, path):
        answer = httpx.get(place + path)

        if path.startswith("/static/"):
            assert answer.status_code == 404
            return
        assert find_shape(answer, path) == Shape(404)

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    @pytest.mark.parametrize("path", ["/api/nothing", "/.well-known/nothing"])
    def test_with_any_method(self, place, method, path):
        assert find_shape(httpx.request(method, place + path), path) == Shape(404)

    @pytest.mark.parametrize(
        ("method", "path", "shown"),
        [
            ("GET", "/api/v1/usrs", "GET /api/v1/usrs"),
            ("PATCH", "/api/v1/users/", "PATCH /api/v1/users/"),
            ("GET", "/api/v1/<b>%0a%22", "GET /api/v1/%3Cb%3E%0A%22"),
            ("GET", f"/api/v1/{'x' * 2_000}", f"GET /api/v1/{'x' * 220}"),
        ],
    )
    def test_of_the_api_names_the_endpoint_that_does_not_exist(self, place, method, path, shown):
        answer = httpx.request(method, place + path)

        assert answer.json() == {"code": 404, "message": f"No such endpoint: {shown}", "result": ""}

    def test_of_an_unknown_tenant_does_not_speak_of_endpoints(self, address):
        answer = httpx.get(f"{address}/t/nobody/api/v1/users")

        assert answer.json() == {"code": 404, "message": "there is nothing here", "result": ""}

    def test_the_path_is_not_shown(self, place):
        answer = httpx.get(f"{place}/<script>alert(1)</script>")

        assert answer.status_code == 404
        assert "alert" not in answer.text

    def test_a_page_names_the_request_to_ask_about(self, place):
        answer = httpx.get(f"{place}/nothing")

        assert answer.headers["X-Request-Id"] in answer.text

    def test_a_page_is_in_the_tenants_own_looks(self, acme):
        assert "Acme" in acme.get("/nothing").text


JSON_OF_OAUTH = (
    *("/oidc/token", "/oidc/revoke", "/oidc/userinfo", "/.well-known/jwks.json"),
    *("/.well-known/openid-configuration", "/oidc/.well-known/openid-configuration"),
)


class TestWrongMethod:
    @pytest.mark.parametrize(
        ("path", "methods", "allow"),
        [
            ("/api/admin/sign-in", ["GET", "PUT", "PATCH", "DELETE", "NONSENSE"], "POST"),
            ("/api/interaction/sign-in", ["GET", "PUT", "PATCH", "DELETE"], "POST"),
            ("/api/interaction/sign-in-experience", ["POST", "PUT", "DELETE"], "GET"),
            ("/oidc/token", ["GET", "HEAD", "PUT", "DELETE", "NONSENSE"], "POST"),
            ("/oidc/revoke", ["GET", "PUT", "DELETE", "NONSENSE"], "POST"),
            ("/oidc/userinfo", ["PUT", "DELETE", "NONSENSE"], "GET"),
            ("/.well-known/jwks.json", ["POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"], "GET"),
            ("/.well-known/openid-configuration", ["POST", "PUT", "DELETE", "NONSENSE"], "GET"),
            ("/oidc/.well-known/openid-configuration", ["POST", "PUT", "DELETE", "NONSENSE"], "GET"),
            ("/oidc/authorize", ["PUT", "DELETE", "NONSENSE"], "GET"),
            ("/oidc/end-session", ["PUT", "DELETE", "NONSENSE"], "GET"),
            ("/sign-in", ["OPTIONS", "TRACE"], "POST"),
            ("/account", ["OPTIONS", "TRACE"], "GET"),
            ("/", ["OPTIONS", "TRACE"], "GET"),
        ],
        ids=lambda value: value if isinstance(value, str) else None,
    )
    def test_decision_H3_405_says_what_is_allowed(self, acme, path, methods, allow):
        for method in methods:
            answer = httpx.request(method, acme.address + path)

            assert answer.status_code == 405, (method, answer.text)
            assert allow in answer.headers["Allow"].split(", ")
            assert method not in answer.headers["Allow"].split(", ")
            if method != "HEAD":
                if path.startswith("/api/"):
                    assert is_envelope(answer), answer.text
                elif path in JSON_OF_OAUTH:
                    assert is_oauth(answer, "invalid_request"), answer.text
                else:
                    assert is_page(answer), answer.text


class TestUnreadable:
    @pytest.mark.parametrize(
        ("path", "type_", "body"),
        [
            ("/api/admin/sign-in", "application/json", b"{"),
            ("/api/admin/sign-in", "application/json", b"\xff"),
            ("/oidc/token", "application/x-www-form-urlencoded", b"grant_type=%ff"),
            ("/oidc/token", "application/x-www-form-urlencoded", b"a=%00"),
            ("/oidc/revoke", "application/x-www-form-urlencoded", b"token=%00"),
        ],
    )
    def test_decision_H3_is_400(self, place, path, type_, body):
        answer = httpx.post(place + path, content=body, headers={"Content-Type": type_})

        assert find_shape(answer, path) == Shape(400)

    @pytest.mark.parametrize(
        ("path", "most"),
        [
            ("/api/admin/sign-in", 64 * 1024),
            ("/sign-in", 64 * 1024),
            ("/oidc/token", 1024 * 1024),
            ("/oidc/revoke", 1024 * 1024),
        ],
    )
    def test_decision_N14_a_large_body_is_413(self, place, path, most):
        type_ = "application/json" if path.startswith("/api/") else "application/x-www-form-urlencoded"

        answer = httpx.post(place + path, content=b"a" * (most + 1), headers={"Content-Type": type_})

        assert find_shape(answer, path) == Shape(413)

    def test_case_L14_a_body_with_two_lengths_is_refused_by_the_front(self, acme):
        answer = wire.send(
            acme.address,
            "POST",
            b"/oidc/token",
            "Transfer-Encoding: chunked",
            "Content-Type: application/x-www-form-urlencoded",
            body=b"0\r\n\r\nGET /t/default HTTP/1.1\r\n\r\n",
        )

        assert answer.status == 400

    @pytest.mark.parametrize("path", ["/api/admin/me", "/oidc/userinfo", "/sign-in", "/"])
    def test_case_L07_far_too_long_headers_are_refused_and_the_worker_goes_on(self, acme, path):
        answer = wire.send(acme.address, "GET", path.encode(), *(f"X-{n}: {'a' * 8_000}" for n in range(100)))

        assert answer.status in {400, 431}
        assert acme.get("/.well-known/jwks.json").status_code == 200

    def test_case_L07_a_path_of_64_kB_is_refused(self, acme):
        answer = wire.send(acme.address, "GET", b"/" + b"a" * 65_536)

        assert answer.status in {400, 414}

    @pytest.mark.parametrize("length", ["-1", "abc", "1e3", "99999999999999999999", "+5", "5, 5"])
    def test_case_L14_a_length_that_is_none_is_refused(self, acme, length):
        answer = wire.send(acme.address, "POST", b"/oidc/token", f"Content-Length: {length}")

        assert 400 <= answer.status < 500


BROKEN = {
    "/api/interaction/sign-in-experience": "interaction.api.views.experiences.current",
    "/.well-known/openid-configuration": "oidc.provider.discovery.cacheable_json",
    "/.well-known/jwks.json": "oidc.keys.views.cacheable_json",
    "/oidc/userinfo": "oidc.provider.views.userinfo._get_token",
    "/account": "identity.sessions.cookies.current_session",
    "/oidc/authorize": "oidc.provider.views.authorize._get_query",
    "/oidc/end-session": "oidc.provider.views.end_session._read_parameters",
}


class TestOurFault:
    """In this process, where something can be broken on purpose."""

    @pytest.fixture
    def browser(self):
        return Client(raise_request_exception=False)

    def broken(self, monkeypatch, name, error):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(name, fail)

    @pytest.mark.parametrize("prefix", ["", "/t/{acme}"], ids=["root", "tenant"])
    @pytest.mark.parametrize("path", BROKEN)
    def test_case_K11_500_in_the_shape_of_the_path_and_without_a_trace(
        self, acme, browser, monkeypatch, path, prefix
    ):
        self.broken(monkeypatch, BROKEN[path], ZeroDivisionError("broken on purpose in secret.py"))

        answer = browser.get(prefix.format(acme=acme.tenant.slug) + path)

        answer.text = answer.content.decode()
        assert find_shape(answer, path, "server_error") == Shape(500)
        assert "Retry-After" not in answer.headers

    @pytest.mark.parametrize("error", [OperationalError, InterfaceError], ids=lambda error: error.__name__)
    @pytest.mark.parametrize("path", BROKEN)
    def test_decision_H3_503_when_the_database_is_away(self, acme, browser, monkeypatch, path, error):
        self.broken(monkeypatch, BROKEN[path], error("connection to server at 10.1.2.3 refused"))

        answer = browser.get(f"/t/{acme.tenant.slug}{path}")

        answer.text = answer.content.decode()
        assert find_shape(answer, path, "temporarily_unavailable") == Shape(503)
        assert int(answer.headers["Retry-After"]) > 0
        assert "10.1.2.3" not in answer.text

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="a standby")
    @pytest.mark.parametrize("path", ["/sign-in", "/api/interaction/sign-in", "/oidc/token"])
    def test_decision_H3_503_when_the_database_is_a_standby(self, acme, browser, path):
        kind, sent = "application/json", '{"identifier": "somebody", "password": "a secret password"}'
        if not path.startswith("/api/"):
            kind, sent = "application/x-www-form-urlencoded", "identifier=somebody&password=a+secret"
        if path == "/oidc/token":
            machine = management.machine(acme)
            form = {"client_id": machine.client_id, "client_secret": machine.secret}
            sent = urlencode({"grant_type": "client_credentials"} | form)
        with connection.cursor() as cursor:
            cursor.execute("SET default_transaction_read_only = on")
        try:
            answer = browser.post(f"/t/{acme.tenant.slug}{path}", sent, content_type=kind)
        finally:
            with connection.cursor() as cursor:
                cursor.execute("SET default_transaction_read_only = off")

        answer.text = answer.content.decode()
        assert find_shape(answer, path, "temporarily_unavailable") == Shape(503)
        assert int(answer.headers["Retry-After"]) > 0

    @pytest.mark.parametrize("path", BROKEN)
    def test_fault_R13_503_when_no_file_can_be_opened(self, acme, browser, monkeypatch, path):
        self.broken(monkeypatch, BROKEN[path], OSError(errno.EMFILE, "Too many open files", "/secret"))

        answer = browser.get(f"/t/{acme.tenant.slug}{path}")

        answer.text = answer.content.decode()
        assert find_shape(answer, path, "temporarily_unavailable") == Shape(503)
        assert int(answer.headers["Retry-After"]) > 0
        assert "/secret" not in answer.text

    @pytest.mark.parametrize("path", BROKEN)
    @pytest.mark.parametrize(
        "message",
        ["cannot schedule new futures after interpreter shutdown", "can't start new thread"],
    )
    def test_fault_R13_503_when_no_thread_can_be_started(self, acme, browser, monkeypatch, path, message):
        self.broken(monkeypatch, BROKEN[path], RuntimeError(message))

        answer = browser.get(f"/t/{acme.tenant.slug}{path}")

        answer.text = answer.content.decode()
        assert find_shape(answer, path, "temporarily_unavailable") == Shape(503)
        assert int(answer.headers["Retry-After"]) > 0

    @pytest.mark.parametrize(
        "error",
        [OperationalError("gone"), OSError(errno.EMFILE, "Too many open files")],
        ids=["gone", "files"],
    )
    def test_a_page_of_failure_needs_no_database(self, browser, monkeypatch, error):
        """Its brand is read from the database, too: that must not fail again."""
        self.broken(monkeypatch, "interaction.pages.context.experiences.current", error)
        self.broken(monkeypatch, "identity.sessions.cookies.current_session", error)

        answer = browser.get("/account")

        answer.text = answer.content.decode()
        assert find_shape(answer, "/account") == Shape(503)
        assert "Gatehouse" in answer.text


@pytest.fixture(scope="module")
def adrift(address):
    """A server whose database nobody answers for."""
    nowhere = f"postgres://postgres@127.0.0.1:{second.free_port()}/nothing"
    with second.running(DATABASE_URL=nowhere) as adrift:
        yield adrift


class TestDatabaseAway:
    """Over HTTP, with a database that is really not there."""

    @pytest.mark.parametrize(
        ("method", "path", "options"),
        [
            ("GET", "/.well-known/jwks.json", {}),
            ("GET", "/.well-known/openid-configuration", {}),
            ("POST", "/oidc/token", {"data": {"grant_type": "client_credentials"}, "auth": ("a", "b")}),
            ("POST", "/oidc/revoke", {"data": {"token": "x"}, "auth": ("a", "b")}),
            ("GET", "/oidc/authorize", {"params": {"client_id": "x", "redirect_uri": "https://rp.example/"}}),
            ("GET", "/oidc/end-session", {"params": {"client_id": "x"}}),
            ("GET", "/api/interaction/sign-in-experience", {}),
            ("POST", "/api/interaction/sign-in", {"json": {"identifier": "x", "password": "y"}}),
            ("POST", "/api/admin/sign-in", {"json": {"username": "x", "password": "y"}}),
            ("GET", "/t/some-tenant/.well-known/jwks.json", {}),
            ("GET", "/t/some-tenant/api/admin/me", {}),
            ("GET", "/t/some-tenant/sign-in", {}),
        ],
    )
    def test_decision_H3_case_E06_is_503_with_retry_after(self, adrift, method, path, options):
        answer = httpx.request(method, adrift + path, timeout=30, **options)

        assert find_shape(answer, re.sub(r"^/t/[^/]+", "", path), "temporarily_unavailable") == Shape(503)
        assert int(answer.headers["Retry-After"]) > 0
        assert "127.0.0.1" not in answer.text

    def test_what_needs_no_database_is_still_answered(self, adrift):
        assert httpx.get(f"{adrift}/nothing").status_code == 404

    def test_the_page_for_people_says_what_to_do(self, adrift):
        answer = httpx.get(f"{adrift}/t/some-tenant/sign-in", timeout=30)

        assert "Wait a few seconds" in answer.text


class TestHeaders:
    @pytest.mark.parametrize("path", ["/", "/sign-in", "/account", "/nothing", "/api/nothing", "/oidc/token"])
    def test_every_answer_tells_browsers_not_to_guess(self, place, path):
        answer = httpx.get(place + path)

        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'none'" in answer.headers["Content-Security-Policy"]
        assert answer.headers["Referrer-Policy"] in {"no-referrer", "same-origin"}

    def test_the_server_does_not_say_what_it_is_made_of(self, address):
        answer = httpx.get(f"{address}/")

        assert not {"X-Powered-By", "X-Django-Version"} & set(answer.headers)
        assert not re.search(r"\d", answer.headers.get("Server", ""))

    def test_http_is_not_told_to_insist_on_https(self, address):
        assert "Strict-Transport-Security" not in httpx.get(address).headers
