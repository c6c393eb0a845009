"""The token endpoint as such: what it takes, how it refuses, who may read its answers."""

import base64
import gzip
import json
import re
import socket
import time
from unittest import mock
from urllib.parse import urlencode, urlsplit

import httpx
import pytest
from django.conf import settings as django_settings
from django.db import InterfaceError, OperationalError
from django.test import Client
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oidc.provider import client_authentication as clients
from tests.support import cast, wire

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
WORDS = {
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
}


def refusal(answer) -> tuple[int, str]:
    """Return status and error word of a refusal that has everything a refusal must have."""
    body = answer.json()
    assert set(body) == {"error", "error_description"}, body
    assert body["error"] in WORDS
    # RFC 6749 section 5.2: printable ASCII without quote and backslash.
    assert re.fullmatch(r"[\x20-\x21\x23-\x5b\x5d-\x7e]+", body["error_description"])
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    assert "Set-Cookie" not in answer.headers
    return answer.status_code, body["error"]


BAD = (400, "invalid_request")


@pytest.fixture
def machine(acme):
    return acme.application("MachineToMachine")


def ask(world, body, **headers):
    return world.post("/oidc/token", content=body, headers=FORM | headers)


class TestGrantType:
    @pytest.mark.parametrize("grant_type", [None, "", " "])
    def test_case_C10_must_be_sent(self, machine, grant_type):
        status, error = refusal(machine.token(grant_type=grant_type, x="y"))

        assert status == 400
        assert error == ("unsupported_grant_type" if grant_type == " " else "invalid_request")

    @pytest.mark.parametrize(
        "grant_type",
        [
            "password",
            "implicit",
            "openid",
            "urn:ietf:params:oauth:grant-type:token-exchange",
            "urn:ietf:params:oauth:grant-type:device_code",
            "urn:ietf:params:oauth:grant-type:jwt-bearer",
            "Client_Credentials",
            "client_credentials ",
            "client_credentials\n",
            "authorization_code refresh_token",
            "__class__",
            "é",
        ],
    )
    def test_case_C10_unknown_is_unsupported(self, machine, grant_type):
        answer = machine.token(grant_type=grant_type, username="u", password="p", assertion="a")

        assert refusal(answer) == (400, "unsupported_grant_type")


class TestMethod:
    @pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND"])
    def test_case_L12_is_post(self, acme, method):
        answer = httpx.request(method, f"{acme.address}/oidc/token")

        assert answer.status_code == 405
        assert answer.headers["Allow"] == "POST, OPTIONS"
        assert answer.headers["Cache-Control"] == "no-store"
        assert method == "HEAD" or refusal(answer) == (405, "invalid_request")

    def test_ignores_what_claims_to_be_another_method(self, acme):
        answer = acme.get("/oidc/token", headers={"X-HTTP-Method-Override": "POST"})

        assert answer.status_code == 405


class TestBody:
    @pytest.mark.parametrize(
        "content_type",
        [
            "application/json",
            "multipart/form-data; boundary=x",
            "text/plain",
            "application/x-www-form-urlencoded-not",
            "application/x-www-form-urlencoded, application/json",
            "x",
            "",
        ],
    )
    def test_case_C08_of_another_type_is_415(self, acme, machine, content_type):
        answer = acme.post(
            "/oidc/token",
            content=b"grant_type=client_credentials",
            headers={"Content-Type": content_type},
            auth=machine.basic,
        )

        assert refusal(answer) == (415, "invalid_request")

    def test_case_C08_without_a_type_is_415(self, acme, machine):
        answer = acme.post("/oidc/token", content=b"grant_type=client_credentials", auth=machine.basic)

        assert refusal(answer) == (415, "invalid_request")

    def test_case_C08_of_json_or_multipart_is_415(self, acme, machine):
        form = {"grant_type": "client_credentials"}

        as_json = acme.post("/oidc/token", json=form, auth=machine.basic)
        as_parts = acme.post("/oidc/token", files={"grant_type": (None, "client_credentials")})

        assert refusal(as_json) == refusal(as_parts) == (415, "invalid_request")

    @pytest.mark.parametrize(
        "content_type",
        [
            "application/x-www-form-urlencoded; charset=UTF-8",
            "application/x-www-form-urlencoded;charset=utf-8",
            "Application/X-WWW-Form-Urlencoded",
            "application/x-www-form-urlencoded; charset=made-up",
        ],
    )
    def test_may_name_a_charset(self, acme, machine, content_type):
        answer = acme.post(
            "/oidc/token",
            content=b"grant_type=client_credentials",
            headers={"Content-Type": content_type},
            auth=machine.basic,
        )

        assert answer.status_code == 200

    def test_of_json_text_under_the_type_of_a_form_is_no_request(self, acme):
        answer = ask(acme, json.dumps({"grant_type": "client_credentials"}))

        assert refusal(answer) == BAD

    @pytest.mark.parametrize("body", [b"", b"&", b"=", b"&&==&", b"%", b"%%%", b"+", b";", b"grant_type"])
    def test_that_is_hardly_a_form_is_refused(self, acme, body):
        assert refusal(ask(acme, body)) == BAD

    @pytest.mark.parametrize("size", [1024 * 1024 + 1, 10 * 1024 * 1024])
    def test_beyond_a_mebibyte_is_413(self, acme, machine, size):
        body = b"grant_type=client_credentials&x=".ljust(size, b"x")

        answer = acme.post("/oidc/token", content=body, headers=FORM, auth=machine.basic)

        assert refusal(answer) == (413, "invalid_request")

    def test_of_a_mebibyte_is_read(self, acme):
        body = urlencode({f"p{n}": "x" * 15_000 for n in range(69)}).encode().ljust(1024 * 1024, b"&")

        assert refusal(ask(acme, body)) == BAD

    @pytest.mark.parametrize(
        "bad",
        [b"\xff", b"%ff", b"%c3%28", b"%ed%a0%80", b"%f5%80%80%80", b"%c0%80", b"%80", b"\xc3\x28"],
    )
    @pytest.mark.parametrize("place", [b"x=%s", b"%s=x", b"client_id=%s", b"scope=%s", b"code=%s"])
    def test_that_is_not_utf8_is_refused(self, acme, machine, place, bad):
        answer = acme.post(
            "/oidc/token",
            content=b"grant_type=client_credentials&" + place.replace(b"%s", bad),
            headers=FORM,
            auth=machine.basic,
        )

        assert refusal(answer) == BAD

    @pytest.mark.parametrize("nul", [b"%00", b"\0"])
    @pytest.mark.parametrize(
        "name", ["x", "grant_type", "client_id", "client_secret", "code", "refresh_token", "scope"]
    )
    def test_with_a_nul_is_refused(self, acme, name, nul):
        answer = ask(acme, f"grant_type2=x&{name}=a".encode() + nul + b"b")

        assert refusal(answer) == BAD

    def test_with_a_nul_in_a_name_is_refused(self, acme):
        assert refusal(ask(acme, b"grant_type=client_credentials&a%00b=c")) == BAD

    def test_with_a_thousand_parameters_is_refused(self, acme, machine):
        form = {"grant_type": "client_credentials"} | {f"p{n}": "x" for n in range(1_000)}

        assert refusal(machine.token(**form)) == BAD

    def test_with_unknown_parameters_is_fine(self, machine):
        answer = machine.token(grant_type="client_credentials", audience="x", made_up="y", client="z")

        assert answer.status_code == 200

    def test_case_L13_that_is_compressed_is_not_unpacked(self, acme, machine):
        answer = acme.post(
            "/oidc/token",
            content=gzip.compress(b"grant_type=client_credentials"),
            headers=FORM | {"Content-Encoding": "gzip"},
            auth=machine.basic,
        )

        assert refusal(answer) == BAD

    def test_that_ends_early_is_no_failure_and_grants_nothing(self, acme):
        parts = urlsplit(acme.address)
        head = (
            f"POST {parts.path}/oidc/token HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n"
            "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 500\r\n\r\n"
        )
        with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
            connection.sendall(head.encode() + b"grant_type=client_credentials")
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(65_536), b""))

        assert b"access_token" not in answer
        assert not answer or answer.startswith(b"HTTP/1.1 4")


class TestRepeated:
    @pytest.mark.parametrize(
        "name", ["grant_type", "scope", "client_id", "client_secret", "code", "resource", "made_up"]
    )
    @pytest.mark.parametrize("same", [True, False])
    def test_case_C09_parameters_are_refused(self, acme, machine, name, same):
        form = [("grant_type", "client_credentials"), (name, "a"), (name, "a" if same else "b")]

        answer = acme.post("/oidc/token", content=urlencode(form), headers=FORM, auth=machine.basic)

        assert refusal(answer) == BAD

    @pytest.mark.parametrize(
        "name", ['"', "\r\nSet-Cookie: a=b", "\x7f", "é", "\U0001f600", "a" * 5_000, "", "\\", "<script>"]
    )
    def test_names_are_told_in_letters_that_the_standard_allows(self, acme, name):
        answer = ask(acme, urlencode([(name, "a"), (name, "b")]))

        assert refusal(answer) == BAD
        # RFC 6749 section 5.2: no control characters, no quote, no backslash, ASCII only.
        description = answer.json()["error_description"]
        assert all(" " <= letter <= "~" and letter not in '"\\' for letter in description), description
        assert len(description) < 200


class TestQuery:
    @pytest.mark.parametrize(
        "query", ["grant_type=client_credentials", "x=y", "client_id=a&client_secret=b", "%00"]
    )
    def test_case_C09_parameters_of_the_address_are_refused(self, acme, machine, query):
        answer = acme.post(
            f"/oidc/token?{query}", data={"grant_type": "client_credentials"}, auth=machine.basic
        )

        assert refusal(answer) == BAD

    def test_is_not_part_of_the_path(self, acme, machine):
        answers = [
            acme.post(f"/oidc/token{tail}", data={"grant_type": "client_credentials"}, auth=machine.basic)
            for tail in ("/", "/x", "%00", "%2f")
        ]

        assert [answer.status_code for answer in answers] == [404] * 4


class TestLength:
    @pytest.mark.parametrize("name", ["scope", "code", "client_id", "client_secret", "resource", "x"])
    def test_case_C18_of_a_value_is_bounded(self, acme, machine, name):
        body = urlencode({"grant_type": "client_credentials", name: "x" * 100_000})

        answer = acme.post("/oidc/token", content=body, headers=FORM, auth=machine.basic)

        assert refusal(answer) == BAD

    def test_case_C18_a_scope_of_100_000_words_is_refused_quickly(self, machine):
        scope = " ".join(f"w{n}" for n in range(100_000))

        began = time.perf_counter()
        answer = machine.token(grant_type="client_credentials", scope=scope)
        took = time.perf_counter() - began

        assert refusal(answer) == BAD
        assert took < 2

    def test_case_C18_a_scope_of_many_words_grants_nothing(self, machine):
        answer = machine.token(grant_type="client_credentials", scope="a " * 8_000)

        assert answer.json()["scope"] == ""


class TestSizes:
    def test_decision_O13_are_what_they_are_said_to_be(self, acme):
        """RFC 6749 section 2.2, OAuth 2.1 section 1.7.1: who issues a value says how long it is."""
        client = acme.application()
        code = acme.browser().code_for(client, acme.user())
        tokens = client.redeem(code).json()
        longest = tokens["refresh_token"].replace(".0.", ".999999999.")

        assert (len(client.client_id), len(client.secret), len(code), len(longest)) == (24, 43, 43, 99)
        assert max(len(tokens["access_token"]), len(tokens["id_token"])) < 2_000


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


# ── Whatever comes ──────────────────────────────────────────────────────────────────────────────────────────

_NAMES = [
    *("grant_type", "client_id", "client_secret", "code", "redirect_uri", "code_verifier"),
    *("refresh_token", "scope", "resource", "organization_id", "state", "user", "client", "scopes"),
    *("grant", "request", "headers", "_params", "access_token", "expires_in", "token", "response_type"),
]
_GRANTS = ["authorization_code", "refresh_token", "client_credentials"]
_anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)


@pytest.fixture(scope="module")
def parts(address):
    """What an honest application holds, for the dishonest to mix."""
    world = cast.new_world("Fuzzed")
    client, machine = world.application(), world.application("MachineToMachine")
    user, browser = world.user(), world.browser()
    tokens = client.tokens_for(user, browser)
    values = [
        *(client.client_id, client.secret, machine.client_id, machine.secret, client.verifier),
        *(browser.code_for(client, user), tokens["refresh_token"], tokens["access_token"]),
        *("https://rp.example/callback", "openid offline_access", ""),
    ]
    return world, client, machine, values


class TestWhateverComes:
    """Forms made of real and made-up parts are never a failure, and refused in one shape."""

    @settings(
        max_examples=300,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(data=st.data())
    def test_is_answered_in_the_shape_of_the_interface(self, parts, data):
        world, client, machine, values = parts
        name = st.one_of(st.sampled_from(_NAMES), _anything)
        value = st.one_of(st.sampled_from(values), st.sampled_from(_GRANTS), _anything)
        pairs = data.draw(st.lists(st.tuples(name, value), max_size=8))
        if data.draw(st.booleans()):
            pairs = [("grant_type", data.draw(st.sampled_from(_GRANTS))), *pairs]
        auth = data.draw(st.sampled_from([None, client.basic, machine.basic]))

        answer = world.post("/oidc/token", content=urlencode(pairs), headers=FORM, auth=auth)

        self.is_of_the_interface(answer)

    @settings(
        max_examples=200,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(
        body=st.one_of(
            st.binary(max_size=200),
            st.binary(max_size=60).map(lambda tail: b"grant_type=client_credentials&" + tail),
            st.text("&=%+;0aF\x00é", max_size=60).map(str.encode),
        ),
        authorization=st.one_of(
            st.none(),
            # What HTTP itself lets into a header (RFC 9110 section 5.5).
            st.binary(max_size=60).map(
                lambda raw: b"Basic " + bytes(b for b in raw if b >= 0x20 and b != 0x7F) + b"."
            ),
        ),
    )
    def test_whatever_the_bytes(self, parts, body, authorization):
        headers = FORM if authorization is None else FORM | {b"Authorization": authorization}

        answer = parts[0].post("/oidc/token", content=body, headers=headers)

        self.is_of_the_interface(answer)

    def is_of_the_interface(self, answer) -> None:
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Content-Type"] == "application/json"
        if answer.status_code == 200:
            assert {"access_token", "token_type", "expires_in", "scope"} <= set(answer.json())
        else:
            status, error = refusal(answer)
            assert status == (401 if error == "invalid_client" else 400)


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


def test_raw_requests_that_no_library_would_send_are_refused(acme):
    kind = "Content-Type: application/x-www-form-urlencoded"
    body = b"grant_type=client_credentials"

    answers = [
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Content-Length: 3", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Transfer-Encoding: chunked", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Transfer-Encoding: gzip", body=body),
        wire.send(acme.address, "POST", b"/oidc/token", kind, "Content-Length: -1", body=b""),
        wire.send(acme.address, "POST", b"/oidc/token", f"{kind}\r\n {kind}", body=body),
    ]

    for answer in answers:
        assert 400 <= answer.status < 502
        assert answer.status != 500
        assert b"access_token" not in answer.body
