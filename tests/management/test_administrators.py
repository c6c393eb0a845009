"""Administrators: sign-in, the token it gives, and what that token is good for."""

import base64
import hmac
import json
import secrets
import time
from io import StringIO

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.conf import settings as configured
from django.core.management import call_command
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from rest_framework.response import Response
from rest_framework.views import APIView

from audit.models import Entry
from identity.core import tenancy
from identity.core.errors import Invalid
from identity.encryption import keyring
from management.administrators import services as administrators
from management.administrators import tokens
from management.administrators.models import Administrator
from management.seeding import bootstrap
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast, second
from tests.support.cast import PASSWORD
from tests.support.forgery import altered, encode
from tests.support.independent import bearer, claims_of, header_of

SIGN_IN = "/api/admin/sign-in"
ME = "/api/admin/me"


@pytest.fixture
def administrator(address):
    return administrators.create(username=f"a-{secrets.token_hex(4)}", password=PASSWORD, is_superuser=True)


@pytest.fixture
def token(administrator):
    return tokens.issue(administrator)


def sign_in(place=None, **body):
    return httpx.post(f"{place or configured.BASE_URL}{SIGN_IN}", json=body)


def me(token, place=None, **headers):
    return httpx.get(f"{place or configured.BASE_URL}{ME}", headers=bearer(token) | headers)


def is_unknown(answer):
    """Check for a 401 in an envelope, with the challenge that says how to come in."""
    assert answer.status_code == 401, answer.text
    assert answer.json() == {"code": 401, "message": answer.json()["message"], "result": ""}
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    assert answer.headers["Cache-Control"] == "no-store"


def key_of(kid=None):
    """The secret behind administrator tokens, as only this installation knows it."""
    return keyring.subkey("administrator tokens", kid or keyring.current()).hex()


def sealed(header, payload, secret=None):
    """A token with exactly these bytes in it, under the secret of this installation."""
    text = f"{encode(json.dumps(header).encode())}.{encode(payload)}"
    return f"{text}.{encode(hmac.digest((secret or key_of()).encode(), text.encode(), 'sha256'))}"


def changed(token, header=(), claims=()):
    """A token that says otherwise, under the secret of this installation. None takes something out."""
    parts = [header_of(token) | dict(header), claims_of(token) | dict(claims)]
    header, claims = ({name: value for name, value in part.items() if value is not None} for part in parts)
    return sealed(header, json.dumps(claims).encode())


def forged(token, secret, algorithm="HS256"):
    """The same claims, signed with something else."""
    header = {"typ": "admin+jwt", "kid": keyring.current()}
    return jwt.encode(claims_of(token), secret, algorithm=algorithm, headers=header)


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

        assert header_of(token) == {"alg": "HS256", "typ": "admin+jwt", "kid": keyring.current()}
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
        made = administrators.create(username=f"a-{secrets.token_hex(4)}", password="  spaces  ")

        assert sign_in(username=made.username, password="  spaces  ").status_code == 200
        assert sign_in(username=made.username, password="spaces").status_code == 401

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


class TestMe:
    """GET /api/admin/me."""

    def test_decision_T5_shows_oneself_and_what_one_manages(self, acme, administrator, token):
        limited = administrators.create(
            username=f"b-{secrets.token_hex(4)}", password=PASSWORD, email="b@b.example"
        )
        limited.tenants.add(acme.tenant)

        shown, seen = me(token).json()["result"], me(tokens.issue(limited)).json()["result"]

        assert set(shown) == {
            *("id", "username", "email", "phone", "is_superuser", "tenants", "created_at", "updated_at")
        }
        assert (shown["id"], shown["username"]) == (administrator.pk, administrator.username)
        assert (shown["is_superuser"], shown["tenants"]) == (True, [])
        assert (seen["email"], seen["phone"]) == ("b@b.example", "")
        assert (seen["is_superuser"], seen["tenants"]) == (False, [acme.tenant.slug])

    def test_decision_H6_times_are_utc_with_milliseconds(self, token):
        shown = me(token).json()["result"]

        for name in ("created_at", "updated_at"):
            assert len(shown[name]) == len("2026-01-01T00:00:00.000Z")
            assert shown[name].endswith("Z")

    def test_shows_no_password_in_any_form(self, token):
        text = me(token).text

        assert "password" not in text
        assert "argon2" not in text

    def test_decision_T5_one_token_works_at_the_root_and_under_a_prefix(self, acme, administrator, token):
        for place in (configured.BASE_URL, acme.address):
            assert me(token, place).json()["result"]["id"] == administrator.pk

    def test_a_token_got_under_a_prefix_works_at_the_root(self, acme, administrator):
        got = sign_in(acme.address, username=administrator.username, password=PASSWORD)

        assert me(got.json()["result"]["access_token"]).status_code == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {},
            {"Authorization": ""},
            {"Authorization": "Bearer"},
            {"Authorization": "Basic YWRtaW46eA=="},
            {"Authorization": "Token {token}"},
            {"Authorization": "{token}"},
            {"Authorization": "Bearer {token} x"},
            {"Authorization": "Bearer x {token}"},
            {"Authorization": "Bearer\t{token}x"},
            {"Cookie": "access_token={token}"},
            {"X-Authorization": "Bearer {token}"},
        ],
        ids=range(11),
    )
    def test_case_H01_without_a_token_in_its_place_nobody_is_known(self, token, headers):
        filled = {name: value.replace("{token}", token) for name, value in headers.items()}

        is_unknown(httpx.get(f"{configured.BASE_URL}{ME}", headers=filled))

    def test_case_F24_a_token_in_the_address_is_not_read(self, token):
        is_unknown(httpx.get(f"{configured.BASE_URL}{ME}", params={"access_token": token}))

    def test_the_scheme_is_written_in_any_case(self, token):
        answer = httpx.get(f"{configured.BASE_URL}{ME}", headers={"Authorization": f"bEARER {token}"})

        assert answer.status_code == 200

    @pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
    def test_decision_H3_other_methods_are_405(self, token, method):
        answer = httpx.request(method, f"{configured.BASE_URL}{ME}", headers=bearer(token))

        assert (answer.status_code, answer.json()["code"]) == (405, 405)

    @pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method"])
    def test_case_H12_a_method_in_a_header_is_ignored(self, administrator, token, header):
        assert me(token, **{header: "DELETE"}).status_code == 200
        assert Administrator.objects.filter(pk=administrator.pk).exists()


class TestTokens:
    """What is no token of ours."""

    @pytest.mark.parametrize("elapsed", [86_400, 86_401, 10**9])
    def test_expires(self, token, elapsed):
        claims = claims_of(token)

        old = changed(token, claims={"iat": claims["iat"] - elapsed, "exp": claims["exp"] - elapsed})

        is_unknown(me(old))

    def test_is_good_until_it_expires(self, token):
        almost = changed(token, claims={"exp": int(time.time()) + 30})

        assert me(almost).status_code == 200

    @pytest.mark.parametrize("seconds", [60, 120])
    def test_the_lifetime_is_a_setting(self, administrator, settings, seconds):
        settings.ADMINISTRATOR_TOKEN_SECONDS = seconds

        claims = claims_of(tokens.issue(administrator))

        assert claims["exp"] - claims["iat"] == seconds

    @pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "nOnE", "", 1, ["HS256"], {}])
    def test_case_F02_unsigned(self, token, algorithm):
        text = altered(token, "header", alg=algorithm)

        is_unknown(me(text))
        is_unknown(me(text.rpartition(".")[0] + "."))

    def test_case_F02_without_an_algorithm(self, token):
        is_unknown(me(changed(token, header={"alg": None})))

    @pytest.mark.parametrize("algorithm", ["HS384", "HS512"])
    @pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
    def test_case_F03_of_another_algorithm_under_the_right_secret(self, token, algorithm):
        is_unknown(me(forged(token, key_of(), algorithm)))

    def test_case_F03_as_es256_with_the_key_of_the_tenant(self, acme, token):
        with acme.active():
            key_id = SigningKey.objects.get().pk
            key = signing._private_key(acme.tenant.pk, key_id)
            ours = signing.sign(claims_of(token), typ="admin+jwt", key_id=key_id)

        for text in (ours, forged(token, key, "ES256"), altered(token, "header", alg="ES256")):
            is_unknown(me(text, acme.address))

    def test_case_F01_with_the_public_key_as_the_secret(self, acme, token):
        published = acme.get("/.well-known/jwks.json").json()["keys"][0]

        for secret in (published["x"], json.dumps(published), published["x"] + published["y"]):
            claims = json.dumps(claims_of(token)).encode()
            is_unknown(me(sealed(header_of(token), claims, secret), acme.address))

    @pytest.mark.parametrize("secret", ["", "secret", "x" * 64, "0" * 64])
    @pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
    def test_with_a_guessed_secret(self, token, secret):
        is_unknown(me(forged(token, secret or "\0" * 32)))

    def test_with_the_installation_key_itself(self, token):
        key = next(iter(configured.ENCRYPTION_KEYS.values()))

        is_unknown(me(forged(token, key)))
        is_unknown(me(forged(token, key.hex())))

    @pytest.mark.parametrize("purpose", ["refresh tokens", "client secrets", "signing keys"])
    def test_with_a_key_of_another_purpose(self, token, purpose):
        is_unknown(me(forged(token, keyring.subkey(purpose, keyring.current()).hex())))

    @pytest.mark.parametrize("typ", ["JWT", "at+jwt", "", "ADMIN+JWT", None, ["admin+jwt"]], ids=repr)
    def test_case_F06_of_another_type(self, token, typ):
        is_unknown(me(changed(token, header={"typ": typ})))

    @pytest.mark.parametrize(
        "kid", [None, "", "00000000", "../../dev/null", "' OR 1=1", "x" * 1_000, 1, ["a"], {"a": 1}], ids=str
    )
    def test_case_F04_of_another_or_no_key(self, token, kid):
        is_unknown(me(changed(token, header={"kid": kid})))

    def test_case_F06_with_a_critical_extension(self, token):
        is_unknown(me(changed(token, header={"crit": ["x"], "x": 1})))
        is_unknown(me(changed(token, header={"crit": ["b64"], "b64": False})))
        is_unknown(me(changed(token, header={"crit": []})))

    @pytest.mark.parametrize(
        "claims",
        [
            *({"iss": "https://elsewhere.example"}, {"iss": None}, {"exp": None}, {"exp": "9999999999"}),
            *({"exp": []}, {"sub": None}, {"sub": "999999999"}, {"sub": "-1"}, {"sub": "x"}, {"sub": []}),
            *({"sub": "1 OR 1=1"}, {"sub": "9" * 30}, {"pwd": None}, {"pwd": ""}, {"pwd": "0" * 16}),
        ],
        ids=str,
    )
    def test_claims_we_would_not_write_are_refused_even_under_our_secret(self, token, claims):
        is_unknown(me(changed(token, claims=claims)))

    @pytest.mark.parametrize("payload", [b"null", b"[]", b'"x"', b"1", b"{", b"\xff", b""], ids=repr)
    def test_a_payload_that_is_no_object_is_refused_even_under_our_secret(self, token, payload):
        is_unknown(me(sealed(header_of(token), payload)))

    @pytest.mark.parametrize("header", [None, [], "x", 1, True], ids=repr)
    def test_a_header_that_is_no_object_is_refused(self, token, header):
        is_unknown(me(sealed(header, b"{}")))

    def test_case_F22_shortened_lengthened_or_respelt(self, token):
        head, payload, signature = token.split(".")
        for text in (
            *(token[:-1], token + ".x", token + ".", f".{payload}.{signature}", f"{head}..{signature}"),
            *(f"{head}.{payload}.", f"{head}.{payload}", token.upper(), "." * 5, "a.b.c", ".."),
            *("e30.e30.", "bnVsbA.bnVsbA.bnVsbA", "W10.W10.W10", "x" * 8_000),
        ):
            is_unknown(me(text))

    @pytest.mark.parametrize("position", range(0, 300, 23))
    def test_one_altered_character_is_noticed(self, token, position):
        index = position % (len(token) - 1)
        altered = token[:index] + ("A" if token[index] != "A" else "B") + token[index + 1 :]

        is_unknown(me(altered))

    @pytest.mark.parametrize("raw", ["\u00e9.\u00e9.\u00e9", "\xff\xfe", "a.\u00ff.c"])
    def test_bytes_that_are_no_ascii_are_refused(self, address, raw):
        header = {"Authorization": b"Bearer " + raw.encode("latin-1")}

        is_unknown(httpx.get(f"{address}{ME}", headers=header))

    def test_case_F08_an_encrypted_token_is_refused_unread(self, token):
        is_unknown(me("eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aaaa.bbbb.cccc"))


class TestOtherKinds:
    """Tokens of one world are worth nothing in the other."""

    def test_case_F10_tokens_of_people_and_machines_are_no_administrators(self, acme):
        client, machine = acme.application(), acme.application("MachineToMachine")
        issued = client.tokens_for(acme.user())
        theirs = machine.token(grant_type="client_credentials").json()["access_token"]

        for text in (issued["id_token"], issued["refresh_token"]):
            is_unknown(me(text, acme.address))
        for text in (issued["access_token"], theirs):
            # Good tokens of this tenant, but of nobody who manages it; nothing at all elsewhere.
            assert me(text, acme.address).status_code == 403
            is_unknown(me(text))

    def test_case_F10_an_administrators_token_opens_nothing_at_userinfo(self, acme, token):
        answer = acme.get("/oidc/userinfo", headers=bearer(token))

        assert answer.status_code == 401
        assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]

    def test_an_administrators_token_is_no_hint_no_code_and_no_refresh_token(self, acme, token):
        client, browser = acme.application(), acme.browser()
        browser.sign_in(acme.user())

        ended = browser.get("/oidc/end-session", params={"id_token_hint": token})
        redeemed, refreshed = client.redeem(token), client.refresh(token)

        assert ended.status_code == 400
        assert redeemed.json()["error"] == refreshed.json()["error"] == "invalid_grant"

    def test_revoking_one_is_200_and_does_nothing(self, acme, token):
        client = acme.application()

        answer = acme.post("/oidc/revoke", data={"token": token}, auth=client.basic)

        assert answer.status_code == 200
        assert me(token).status_code == 200

    def test_of_another_installation_is_unknown(self, administrator):
        ring = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        with second.running(ENCRYPTION_KEYS=ring) as elsewhere:
            answer = sign_in(elsewhere, username=administrator.username, password=PASSWORD)
            theirs = answer.json()["result"]["access_token"]

            assert me(theirs, elsewhere).status_code == 200
            is_unknown(me(theirs))


class TestWhatEndsATokenAtOnce:
    def test_case_H11_a_deleted_administrator_is_unknown(self, administrator, token):
        for _ in range(4):
            assert me(token).status_code == 200

        administrator.delete()

        for _ in range(4):
            is_unknown(me(token))

    def test_who_comes_after_under_the_same_id_is_another(self, administrator, token):
        pk = administrator.pk
        administrator.delete()
        successor = Administrator(pk=pk, username=f"d-{secrets.token_hex(4)}")
        successor.set_password(PASSWORD)
        successor.save(force_insert=True)

        is_unknown(me(token))

    def test_a_new_password_ends_the_tokens_of_the_old_one(self, administrator, token):
        administrator.set_password("another password")
        administrator.save()

        for _ in range(4):
            is_unknown(me(token))
        assert sign_in(username=administrator.username, password=PASSWORD).status_code == 401
        again = sign_in(username=administrator.username, password="another password")
        assert me(again.json()["result"]["access_token"]).status_code == 200

    def test_djangos_own_command_for_passwords_ends_them_too(self, administrator, token, monkeypatch):
        monkeypatch.setattr("getpass.getpass", lambda **_: "an0ther passw0rd!")

        call_command("changepassword", administrator.username, stdout=StringIO())

        is_unknown(me(token))
        assert sign_in(username=administrator.username, password="an0ther passw0rd!").status_code == 200

    def test_the_same_password_set_again_ends_them_as_well(self, administrator, token):
        administrator.set_password(PASSWORD)
        administrator.save()

        is_unknown(me(token))

    def test_another_administrators_stay(self, administrator, token):
        other = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)

        other.delete()

        assert me(token).status_code == 200

    def test_a_demotion_counts_at_once(self, administrator, token):
        Administrator.objects.filter(pk=administrator.pk).update(is_superuser=False)

        assert me(token).json()["result"]["is_superuser"] is False

    def test_a_key_dropped_from_the_ring_ends_its_tokens(self, administrator, settings):
        ring = configured.ENCRYPTION_KEYS
        settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))} | ring
        token = tokens.issue(administrator)
        with tenancy.using(tenancy.DEFAULT):
            assert tokens.administrator_of(token) == administrator

            settings.ENCRYPTION_KEYS = ring

            with pytest.raises(tokens.InvalidToken):
                tokens.administrator_of(token)

    def test_a_key_put_in_front_of_the_ring_ends_nothing(self, administrator, token, settings):
        settings.ENCRYPTION_KEYS = {"feedbeef": bytes(range(32))} | configured.ENCRYPTION_KEYS

        with tenancy.using(tenancy.DEFAULT):
            assert tokens.administrator_of(token) == administrator
        assert header_of(tokens.issue(administrator))["kid"] == "feedbeef"


class Guarded(APIView):
    """A view that says nothing of who may come in."""

    def get(self, request):
        return Response({"caller": request.user.username})


class TestTheDefaultIsToDeny:
    """A tenant-limited administrator, at a view of the management API."""

    def ask(self, world, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        with world.active():
            answer = Guarded.as_view()(RequestFactory().get("/api/v1/things", headers=headers))
            return answer.render()

    def test_decision_T5_manages_the_tenants_of_the_list(self, acme, rival):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)
        token = tokens.issue(limited)

        inside, outside = self.ask(acme, token), self.ask(rival, token)

        assert (inside.status_code, json.loads(inside.content)["code"]) == (200, 0)
        assert outside.status_code == 403
        assert json.loads(outside.content) == {
            "code": 403,
            "message": "you may not manage this tenant",
            "result": "",
        }

    def test_decision_T5_nor_the_root_unless_it_is_listed(self, acme):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)

        assert self.ask(cast.default_world(), tokens.issue(limited)).status_code == 403

    def test_decision_T5_a_tenant_taken_away_counts_at_once(self, acme):
        limited = administrators.create(username=f"b-{secrets.token_hex(4)}", password=PASSWORD)
        limited.tenants.add(acme.tenant)
        token = tokens.issue(limited)
        assert self.ask(acme, token).status_code == 200

        limited.tenants.clear()

        assert self.ask(acme, token).status_code == 403

    def test_a_superuser_manages_all(self, acme, rival, token):
        for world in (acme, rival, cast.default_world()):
            assert self.ask(world, token).status_code == 200

    def test_nobody_is_401(self, acme):
        answer = self.ask(acme)

        assert answer.status_code == 401
        assert json.loads(answer.content)["code"] == 401
        assert answer["WWW-Authenticate"].startswith("Bearer")

    def test_costs_one_query_for_a_superuser(self, acme, token):
        browser = Client()
        browser.get(ME, headers=bearer(token))

        with CaptureQueriesContext(connection) as queries:
            browser.get(ME, headers=bearer(token))

        # The administrator, and the slugs that `me` shows.
        assert len(queries) == 2


class TestCreate:
    @pytest.mark.parametrize(
        ("fields", "field"),
        [
            ({"username": ""}, "username"),
            ({"username": "a b"}, "username"),
            ({"username": "x" * 129}, "username"),
            ({"password": "12345"}, "password"),
            ({"password": "x" * 257}, "password"),
            ({"email": "nonsense"}, "email"),
        ],
    )
    def test_refuses_what_breaks_a_rule(self, address, fields, field):
        before = Administrator.objects.count()

        with pytest.raises(Invalid) as refusal:
            administrators.create(**({"username": "fitting-name", "password": PASSWORD} | fields))

        assert refusal.value.field == field
        assert Administrator.objects.count() == before

    def test_a_name_is_taken_once(self, administrator):
        before = Entry.objects.filter(key="Administrator.Create").count()

        with pytest.raises(Invalid, match="username: already exists"):
            administrators.create(username=administrator.username, password=PASSWORD)

        assert Entry.objects.filter(key="Administrator.Create").count() == before

    def test_case_K16_bootstrap_does_nothing_where_there_is_one(self, administrator):
        before = list(Administrator.objects.order_by("pk").values_list("pk", "password"))

        made = bootstrap.prepare()

        assert (made.tenant, made.administrator) == (False, False)
        assert list(Administrator.objects.order_by("pk").values_list("pk", "password")) == before

    def test_is_no_staff_by_a_field_of_an_end_user(self, acme):
        user = acme.user()

        assert not hasattr(user, "is_staff")
        assert not hasattr(user, "is_superuser")
        assert configured.AUTH_USER_MODEL == "administrators.Administrator"

    def test_an_elliptic_key_is_no_secret_of_administrators(self, token):
        """The classic confusion: whoever takes the algorithm from the header verifies with the wrong kind."""
        stranger = ec.generate_private_key(ec.SECP256R1())

        is_unknown(me(forged(token, stranger, "ES256")))


@pytest.mark.parametrize("pk", [2**31, 2**40, 2**62])
def test_an_id_of_more_than_32_bits_is_as_good_as_any(acme, pk):
    made = administrators.create(username=f"far-{secrets.token_hex(4)}", password=PASSWORD, is_superuser=True)
    Administrator.objects.filter(pk=made.pk).update(id=pk)
    try:
        token = tokens.issue(Administrator.objects.get(pk=pk))
        with acme.active():
            assert tokens.administrator_of(token).pk == pk
    finally:
        Administrator.objects.filter(pk=pk).delete()
