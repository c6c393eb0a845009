"""Answers of the token endpoint: their headers, failures of the server, and what the log says."""

import base64
from unittest import mock
from urllib.parse import urlencode

import pytest
from django.conf import settings as django_settings
from django.db import InterfaceError, OperationalError
from django.test import Client

from oidc.provider import client_authentication as clients
from tests.support import cast, wire
from tests.support.token_endpoint import FORM, refusal


class TestHeaders:
    def test_case_C15_of_tokens_forbid_to_keep_them(self, acme, machine):
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        answers = [client.redeem(code), machine.token(grant_type="client_credentials")]
        answers.append(client.refresh(answers[0].json()["refresh_token"]))

        for answer in answers:
            assert answer.status_code == 200
            assert answer.headers["Content-Type"] == "application/json"
            assert answer.headers["Cache-Control"] == "no-store"
            assert answer.headers["Pragma"] == "no-cache"
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
            assert "Set-Cookie" not in answer.headers
            assert "ETag" not in answer.headers

    def test_a_browser_session_is_no_credential(self, acme):
        client, user, browser = acme.application(), acme.user(), acme.browser()
        browser.sign_in(user)

        answer = browser.post("/oidc/token", data={"grant_type": "client_credentials"})

        assert refusal(answer) == (401, "invalid_client")
        assert client.client_id not in answer.text


class TestFailure:
    """What is not the client's fault, seen from inside, where it can be brought about."""

    def answer(self, acme, machine, failure: Exception):
        form = {"client_id": machine.client_id, "client_secret": machine.secret}
        with mock.patch.object(clients, "find", side_effect=failure):
            return Client(raise_request_exception=False).generic(
                "POST",
                f"/t/{acme.tenant.slug}/oidc/token",
                urlencode({"grant_type": "client_credentials"} | form),
                content_type=FORM["Content-Type"],
            )

    @pytest.mark.parametrize("failure", [OperationalError("10.0.0.7 is away"), InterfaceError("closed")])
    def test_decision_O3_without_the_database_is_temporarily_unavailable(self, acme, machine, failure):
        answer = self.answer(acme, machine, failure)

        assert answer.status_code == 503
        assert answer.json()["error"] == "temporarily_unavailable"
        assert int(answer.headers["Retry-After"]) > 0
        assert answer.headers["Cache-Control"] == "no-store"
        assert "10.0.0.7" not in answer.text

    def test_case_K11_of_ours_is_server_error_and_tells_nothing(self, acme, machine):
        answer = self.answer(acme, machine, RuntimeError("SELECT secret FROM table"))

        assert answer.status_code == 500
        assert set(answer.json()) == {"error", "error_description"}
        assert answer.json()["error"] == "server_error"
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Request-Id"]
        for trace in ("SELECT", "RuntimeError", "Traceback", "clients.py"):
            assert trace not in answer.text


def test_case_K06_the_log_of_the_server_holds_no_secret(acme):
    client, user, browser = acme.application(), acme.user(), acme.browser()
    code = browser.code_for(client, user)
    tokens = client.redeem(code).json()
    client.redeem(code)
    client.refresh(tokens["refresh_token"], scope="openid", resource="x")
    client.userinfo(tokens["access_token"])
    acme.get("/oidc/token", params={"code": code, "client_secret": client.secret})
    acme.post("/oidc/token", content=b"\xff" + client.secret.encode(), headers=FORM, auth=client.basic)
    wire.send(acme.address, "POST", b"/oidc/token", f"Authorization: Basic {client.secret}\x01")

    log = (django_settings.VAR / "server.log").read_text(errors="replace")

    basic = base64.b64encode(":".join(client.basic).encode()).decode()
    secrets = [code, client.secret, client.verifier, cast.PASSWORD, basic, *browser.http.cookies.values()]
    for secret in (*secrets, tokens["access_token"], tokens["refresh_token"], tokens["id_token"]):
        assert secret not in log
