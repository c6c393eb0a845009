"""How administrators sign in."""

import secrets
import time

import httpx
import jwt
import pytest
from django.conf import settings as configured

from audit.models import Entry
from identity.encryption import keyring
from management.administrators import services as administrators
from tests.support.administrator_tokens import SIGN_IN, key_of, me, sign_in
from tests.support.cast import PASSWORD
from tests.support.independent import header_of


class TestSignIn:
    """POST /api/admin/sign-in."""

    def test_gives_a_token_that_says_who_one_is(self, administrator):
        answer = sign_in(username=administrator.username, password=PASSWORD)

        assert answer.status_code == 200
        assert answer.json()["code"] == 0
        assert answer.json()["message"] == "success"
        assert set(answer.json()["result"]) == {"access_token", "expires_in"}
        assert answer.json()["result"]["expires_in"] == 86_400
        assert answer.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in answer.headers
        assert me(answer.json()["result"]["access_token"]).json()["result"]["id"] == administrator.pk

    def test_the_token_is_hs256_with_a_key_of_its_own(self, administrator):
        token = sign_in(username=administrator.username, password=PASSWORD).json()["result"]["access_token"]

        claims = jwt.decode(token, key_of(), algorithms=["HS256"], issuer=configured.BASE_URL)

        assert header_of(token) == {"alg": "HS256", "typ": "admin+jwt", "kid": keyring.current_id()}
        assert claims["sub"] == str(administrator.pk)
        assert claims["exp"] - claims["iat"] == 86_400
        assert abs(claims["iat"] - time.time()) < 60

    @pytest.mark.parametrize("username", ["{known}", "nobody", "{KNOWN}x", "' OR ''='", "admin\u0301"])
    def test_case_I01_wrong_name_and_wrong_password_are_one_refusal(self, administrator, username):
        name = username.format(known=administrator.username, KNOWN=administrator.username)

        answer = sign_in(username=name, password="wrong password")

        assert answer.status_code == 401
        assert answer.json() == {
            "code": 401,
            "message": "the username or the password is wrong",
            "result": "",
        }

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"username": "admin"},
            {"password": PASSWORD},
            {"username": "", "password": ""},
            {"username": None, "password": None},
            {"username": ["admin"], "password": PASSWORD},
            {"username": {"$ne": 1}, "password": {"$ne": 1}},
            {"username": 1, "password": True},
            {"username": "x" * 129, "password": PASSWORD},
            {"username": "admin", "password": "x" * 257},
            {"username": "a\0b", "password": PASSWORD},
        ],
        ids=range(11),
    )
    def test_decision_H3_what_makes_no_sense_is_400(self, address, body):
        answer = sign_in(**body)

        assert answer.status_code in {400, 401}
        assert answer.json()["code"] == answer.status_code
        assert answer.json()["result"] == ""
        assert "admin" not in answer.json()["message"]

    @pytest.mark.parametrize(
        ("content", "type_", "status"),
        [
            (b"username=admin&password=x", "application/x-www-form-urlencoded", 415),
            (b'{"username":"admin","password":"x"}', "text/plain", 415),
            (b'{"username":"admin","password":"x"}', "", 415),
            (b"--b--", "multipart/form-data; boundary=b", 415),
            (b"{", "application/json", 400),
            (b"[]", "application/json", 400),
            (b'"x"', "application/json", 400),
            (b"", "application/json", 400),
            (b"\xff\xfe", "application/json", 400),
            (b'{"username":NaN,"password":"x"}', "application/json", 400),
            (b'{"a":' * 200 + b"1" + b"}" * 200, "application/json", 400),
            (b'{"username":"\\ud800","password":"x"}', "application/json", 400),
            (b'{"username":"' + b"a" * 1_100_000 + b'","password":"x"}', "application/json", 413),
        ],
        ids=range(13),
    )
    def test_case_J03_decision_H3_only_json_is_taken(self, address, content, type_, status):
        answer = httpx.post(f"{address}{SIGN_IN}", content=content, headers={"Content-Type": type_})

        assert answer.status_code == status
        assert answer.json()["code"] == status
        assert answer.json()["result"] == ""

    @pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
    def test_decision_H3_other_methods_are_405_with_allow(self, address, method):
        answer = httpx.request(method, f"{address}{SIGN_IN}")

        assert answer.status_code == 405
        assert answer.json()["code"] == 405
        assert "POST" in answer.headers["Allow"]

    def test_a_password_is_taken_with_its_spaces(self, address):
        made = administrators.create(username=f"a-{secrets.token_hex(4)}", password="  spaces around  ")

        assert sign_in(username=made.username, password="  spaces around  ").status_code == 200
        assert sign_in(username=made.username, password="spaces around").status_code == 401

    def test_an_end_user_is_no_administrator(self, acme):
        user = acme.user()

        assert sign_in(username=user.username, password=PASSWORD).status_code == 401
        assert sign_in(acme.address, username=user.username, password=PASSWORD).status_code == 401

    def test_an_administrator_is_no_end_user(self, acme, administrator):
        answer = acme.post(
            "/api/interaction/sign-in", json={"identifier": administrator.username, "password": PASSWORD}
        )

        assert answer.status_code == 401

    def test_case_K16_the_first_one_has_no_default_password(self, address):
        for password in ("admin", "password", "changeme", "", configured.ADMIN_USERNAME):
            assert sign_in(username=configured.ADMIN_USERNAME, password=password).status_code in {400, 401}

    def test_decision_A1_is_written_down_with_who_and_how_it_ended(self, administrator):
        for password in (PASSWORD, "wrong password"):
            httpx.post(
                f"{configured.BASE_URL}{SIGN_IN}",
                json={"username": administrator.username, "password": password},
                headers={"User-Agent": f"agent of {administrator.username}"},
            )

        written = Entry.objects.filter(key="Admin.SignIn", user_agent=f"agent of {administrator.username}")
        payloads = [entry.payload for entry in written.order_by("created_at", "id")]
        assert payloads == [
            {"username": administrator.username, "result": "success"},
            {"username": administrator.username, "result": "failed", "error": "invalid_credentials"},
        ]
        assert {(entry.tenant_id, entry.ip, entry.user_id) for entry in written} == {
            ("default", "127.0.0.1", None)
        }
