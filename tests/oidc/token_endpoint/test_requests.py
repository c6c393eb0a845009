"""What the token endpoint takes: method, parameters and body."""

import gzip
import json
import socket
import time
from urllib.parse import urlencode, urlsplit

import httpx
import pytest

from tests.support.token_endpoint import BAD, FORM, ask, refusal


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
