"""Figures for Prometheus, and the log: what they say, and what they never say."""

import secrets
import tomllib
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest
from django.conf import settings

from tests.support import factors, second
from tests.support.metrics import SIGN_IN, TOKEN, exposition, figure


@pytest.fixture(scope="module")
def measured(address: str) -> Iterator[str]:
    """A server of two workers that measures and logs."""
    with second.running(METRICS_TOKEN=TOKEN, LOG_REQUESTS="true", WEB_CONCURRENCY="2") as address_:
        yield address_


class TestMetrics:
    def test_case_K12_need_the_token(self, measured):
        assert exposition(measured).status_code == 200
        for token in ("x", TOKEN[:-1], f"{TOKEN}x", "é"):
            refused = exposition(measured, token)
            assert refused.status_code == 401
            assert "gatehouse" not in refused.text

    def test_case_K12_are_not_there_unless_a_token_is_set(self, address):
        assert httpx.get(f"{address}/metrics").status_code == 404
        assert exposition(address).status_code == 404

    def test_the_release_is_told_once(self, measured):
        release = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

        assert figure(measured, "gatehouse_build_info", version=release) == 1

    @pytest.mark.parametrize(
        "series",
        [
            'gatehouse_events_total{key="VerificationCode.Send",result="failed"}',
            'gatehouse_events_total{key="SigningKey.Rotate",result="success"}',
            'gatehouse_limits_counted_total{store="redis"}',
            'gatehouse_limits_refused_total{limit="address signs in"}',
            'gatehouse_second_factor_total{result="failed",type="RecoveryCode"}',
            'gatehouse_sign_ins_total{level="3"}',
        ],
    )
    def test_what_has_not_happened_yet_is_there_with_0(self, measured, series):
        assert f"\n{series} 0.0\n" in exposition(measured).text

    def test_requests_of_all_workers_by_route_and_never_by_path(self, measured):
        before = figure(measured, "gatehouse_http_requests_total", route="oidc:jwks", status="200")
        for _ in range(20):
            httpx.get(f"{measured}/.well-known/jwks.json")
        httpx.get(f"{measured}/canary-{secrets.token_hex(4)}")
        httpx.request("CANARY", f"{measured}/.well-known/jwks.json")

        assert (
            figure(measured, "gatehouse_http_requests_total", route="oidc:jwks", status="200") >= before + 20
        )
        assert figure(measured, "gatehouse_http_request_seconds_count", route="oidc:jwks") >= 20
        assert "canary" not in exposition(measured).text.lower()

    def test_events_by_key_and_result(self, measured, acme):
        user = acme.user()
        failed = {"key": "SignIn.Password", "result": "failed"}
        before = figure(measured, "gatehouse_events_total", **failed)

        acme.at(measured).post(SIGN_IN, json={"identifier": user.username, "password": "wrong password"})

        assert figure(measured, "gatehouse_events_total", **failed) == before + 1
        assert acme.tenant.slug not in exposition(measured).text

    def test_decision_M56_sign_ins_by_level_and_second_factors_by_result(self, measured, acme):
        world = factors.switch_on(acme, "Totp").at(measured)
        user = world.user()
        app = factors.enrol(world, user)
        names = {
            "wrong": ("gatehouse_second_factor_total", {"type": "Totp", "result": "failed"}),
            "right": ("gatehouse_second_factor_total", {"type": "Totp", "result": "success"}),
            "one": ("gatehouse_sign_ins_total", {"level": "1"}),
            "two": ("gatehouse_sign_ins_total", {"level": "2"}),
        }

        def read():
            return {name: figure(measured, series, **labels) for name, (series, labels) in names.items()}

        before = read()
        world.browser().sign_in(world.user())
        browser = world.browser()
        factors.half(browser, user)
        browser.post(factors.TOTP, json={"code": "000000"})
        assert factors.has_session(browser.post(factors.TOTP, json={"code": app.code()}))

        after = read()
        assert {name: after[name] - before[name] for name in names} == dict.fromkeys(names, 1)

    def test_events_that_one_statement_writes_together_with_a_grant(self, measured, acme):
        keys = ("Token.Exchange", "Token.Refresh", "Token.Revoke")
        world = acme.at(measured)
        client = world.application()
        before = {key: figure(measured, "gatehouse_events_total", key=key, result="success") for key in keys}

        tokens = client.tokens_for(world.user())
        tokens = client.refresh(tokens["refresh_token"]).json()
        world.post("/oidc/revoke", data={"token": tokens["refresh_token"]}, auth=client.basic)

        after = {key: figure(measured, "gatehouse_events_total", key=key, result="success") for key in keys}
        assert after == {key: before[key] + 1 for key in keys}


class TestLog:
    def lines(self) -> list[dict[str, Any]]:
        written = (settings.VAR / "server.log").read_bytes().splitlines()
        return [orjson.loads(line) for line in written if line.startswith(b"{")]

    def test_of_a_request_says_route_and_id_and_neither_query_nor_person(self, measured, acme):
        canary = f"canary-{secrets.token_hex(8)}"
        answer = acme.at(measured).get(f"/oidc/authorize?client_id={canary}", headers={"User-Agent": canary})

        lines = [line for line in self.lines() if line["request_id"] == answer.headers["X-Request-Id"]]
        (line,) = [line for line in lines if line["logger"] == "gatehouse.requests"]
        assert line["message"] == "request"
        assert (line["level"], line["method"], line["route"], line["status"]) == (
            "INFO",
            "GET",
            "oidc:authorize",
            400,
        )
        assert line["milliseconds"] > 0
        assert line["time"].endswith("+00:00")
        assert canary not in (settings.VAR / "server.log").read_text()

    def test_case_K05_what_a_client_sends_stays_on_one_line(self, measured):
        canary = secrets.token_hex(8)
        httpx.get(f"{measured}/{canary}%0d%0aforged%1b[31m")

        written = (settings.VAR / "server.log").read_bytes().splitlines()
        assert not any(line.startswith(b"forged") for line in written)
        (line,) = [line for line in self.lines() if canary in str(line["message"])]
        assert line["level"] == "WARNING"

    def test_case_K06_a_password_never_gets_there(self, measured, acme):
        password = f"canary-{secrets.token_hex(8)}"
        acme.at(measured).post(SIGN_IN, json={"identifier": password, "password": password})
        assert password not in (settings.VAR / "server.log").read_text()


class TestSettings:
    @pytest.mark.parametrize(
        ("name", "value"), [("LOG_FORMAT", "xml"), ("LOG_LEVEL", "loud"), ("METRICS_TOKEN", "short")]
    )
    def test_that_make_no_sense_are_refused_by_name(self, name, value):
        with pytest.raises(RuntimeError, match=f"{name}: must be"), second.running(**{name: value}):
            pass
