"""Cross-origin requests (CORS): which pages may call the endpoints, and which of them with credentials."""

import httpx
import pytest

from oidc.applications import services as applications


class TestCors:
    def test_decision_H11_lets_the_origin_of_a_redirect_uri_read(self, acme):
        client = acme.application("SPA", redirect_uris=["https://Spa.example:8443/cb?x=y"])

        answer = acme.post(
            "/oidc/token",
            data={"grant_type": "refresh_token", "refresh_token": "x", "client_id": client.client_id},
            headers={"Origin": "https://spa.example:8443"},
        )

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_grant")
        assert answer.headers["Access-Control-Allow-Origin"] == "https://spa.example:8443"
        assert "Origin" in answer.headers["Vary"]

    def test_decision_H11_answers_a_preflight(self, acme):
        acme.application("SPA")

        answer = httpx.options(
            f"{acme.address}/oidc/token",
            headers={
                "Origin": "https://rp.example",
                "Access-Control-Request-Method": "POST",
                "Access-Control-Request-Headers": "authorization",
            },
        )

        assert answer.status_code in {200, 204}
        assert answer.headers["Access-Control-Allow-Origin"] == "https://rp.example"
        assert "POST" in answer.headers["Access-Control-Allow-Methods"]
        assert "authorization" in answer.headers["Access-Control-Allow-Headers"].lower()
        assert "*" not in answer.headers.values()

    @pytest.mark.parametrize("path", ["/oidc/token", "/oidc/revoke"])
    def test_decision_Q2_lets_the_origin_of_a_redirect_uri_send_credentials(self, acme, path):
        """Some libraries always send them. Neither endpoint reads a cookie."""
        acme.application("SPA")
        origin = {"Origin": "https://rp.example"}

        answers = [
            httpx.options(
                f"{acme.address}{path}", headers=origin | {"Access-Control-Request-Method": "POST"}
            ),
            acme.post(path, data={"x": "y"}, headers=origin),
            acme.get(path, headers=origin),
        ]

        assert [answer.status_code for answer in answers] == [204, 400 if path == "/oidc/token" else 401, 405]
        for answer in answers:
            assert answer.headers["Access-Control-Allow-Origin"] == "https://rp.example"
            assert answer.headers["Access-Control-Allow-Credentials"] == "true"
            assert "Set-Cookie" not in answer.headers

    @pytest.mark.parametrize("path", ["/oidc/userinfo", "/api/session/context"])
    def test_decision_Q2_no_other_endpoint_takes_credentials(self, acme, path):
        acme.application("SPA")

        answer = acme.get(path, headers={"Origin": "https://rp.example"})

        assert answer.headers["Access-Control-Allow-Origin"] == "https://rp.example"
        assert "Access-Control-Allow-Credentials" not in answer.headers

    @pytest.mark.parametrize("path", ["/oidc/token", "/oidc/revoke", "/oidc/userinfo"])
    @pytest.mark.parametrize(
        "origin",
        [
            "https://evil.example",
            "http://rp.example",
            "https://rp.example:444",
            "https://rp.example.evil.example",
            "https://sub.rp.example",
            "https://rp.example/",
            "https://rp.example, https://evil.example",
            "null",
            "*",
            "",
            "com.example.app:",
            "x" * 4_000,
        ],
    )
    def test_case_C16_lets_nobody_else_read(self, acme, path, origin):
        acme.application("SPA")
        acme.application("Native", redirect_uris=["com.example.app:/cb"], name="Phone")

        answers = [
            httpx.options(f"{acme.address}{path}", headers={"Origin": origin}),
            httpx.options(
                f"{acme.address}{path}",
                headers={"Origin": origin, "Access-Control-Request-Method": "POST"},
            ),
            acme.post(path, data={"x": "y"}, headers={"Origin": origin}),
        ]

        for answer in answers:
            assert not [name for name in answer.headers if name.startswith("access-control-")]
            assert "Origin" in answer.headers["Vary"]

    def test_case_C16_of_another_tenant_lets_nobody_read(self, acme, rival):
        rival.application("SPA", redirect_uris=["https://rival.example/cb"])

        answers = [
            acme.post(path, data={"x": "y"}, headers={"Origin": "https://rival.example"})
            for path in ("/oidc/token", "/oidc/revoke")
        ]

        for answer in answers:
            assert not [name for name in answer.headers if name.startswith("access-control-")]

    @pytest.mark.parametrize(
        "path",
        [
            *("/api/v1/users", "/api/admin/sign-in", "/api/admin/me", "/api/interaction/sign-in"),
            *("/api/interaction/sign-in-experience", "/oidc/authorize", "/oidc/end-session", "/account"),
        ],
    )
    def test_case_C16_nothing_else_is_read_from_any_origin(self, acme, path):
        acme.application("SPA")
        headers = {
            "Origin": "https://rp.example",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization",
        }

        answers = [
            httpx.request(method, f"{acme.address}{path}", headers=headers)
            for method in ("OPTIONS", "GET", "POST")
        ]

        for answer in answers:
            assert not [name for name in answer.headers if name.startswith("access-control-")]

    @pytest.mark.parametrize("raw", [b"\xff", b"https://rp.example\xa0", b"\xc3\xa9"])
    def test_an_origin_beyond_ascii_is_no_failure(self, acme, raw):
        answer = acme.post(
            "/oidc/token",
            content=b"x=y",
            headers={"Content-Type": "application/x-www-form-urlencoded", b"Origin": raw},
        )

        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
        assert "Access-Control-Allow-Origin" not in answer.headers

    def test_ends_when_the_redirect_uri_is_gone(self, acme):
        client = acme.application("SPA")
        with acme.active():
            applications.change(
                client.application, {"redirect_uris": ["https://new.example/cb"]}, is_proven=True
            )

        old, new = (
            acme.post("/oidc/token", data={"x": "y"}, headers={"Origin": origin})
            for origin in ("https://rp.example", "https://new.example")
        )

        assert "Access-Control-Allow-Origin" not in old.headers
        assert new.headers["Access-Control-Allow-Origin"] == "https://new.example"
