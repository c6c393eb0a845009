"""What access and ID tokens say, checked by libraries that did not make them; and their forgeries."""

import base64
import hashlib
import hmac
import json
import re
import socket
import time
from datetime import timedelta
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db.models import F
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jwk
from joserfc import jwt as joserfc_jwt

from identity.sessions.models import Session
from identity.users import services as users
from identity.users.models import User
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast
from tests.support.forgery import altered, decode, encode, signed_by, unsigned
from tests.support.independent import bearer, claims_of, header_of, key_set, verified

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of the group of P-256
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def named(value) -> str:
    """Return a short name of a case."""
    return repr(value)[:20]


@pytest.fixture
def client(acme):
    return acme.application()


@pytest.fixture
def token(acme, client):
    """An access token that is as good as any."""
    good = client.tokens_for(acme.user())["access_token"]
    assert acme.get("/oidc/userinfo", headers=bearer(good)).status_code == 200
    return good


def is_refused(world, token: str) -> bool:
    """Say whether a token is no good in the header, in the body, and to any API."""
    answers = [
        world.get("/oidc/userinfo", headers={b"Authorization": b"Bearer " + token.encode()}),
        world.post("/oidc/userinfo", data={"access_token": token}),
        *(
            world.get(path, headers={b"Authorization": b"Bearer " + token.encode()})
            for path in ("/api/admin/me", "/api/session/context", "/api/v1/users")
        ),
    ]
    assert {answer.status_code for answer in answers} <= {200, 401, 403}, [answer.text for answer in answers]
    return [answer.status_code for answer in answers] == [401] * 5


# ── What tokens say ─────────────────────────────────────────────────────────────────────────────────────────


class TestAccessToken:
    def test_decision_O1_is_a_jwt_as_in_rfc_9068(self, acme, client):
        user = acme.user()

        token = client.tokens_for(user, scope="openid email")["access_token"]

        claims = verified(token, key_set(acme))
        assert header_of(token) == {"alg": "ES256", "typ": "at+jwt", "kid": key_set(acme)["keys"][0]["kid"]}
        assert set(claims) == {"iss", "sub", "aud", "client_id", "exp", "iat", "jti", "scope", "sid"}
        assert (claims["iss"], claims["aud"]) == (acme.issuer, acme.issuer)
        assert (claims["sub"], claims["client_id"]) == (str(user.pk), client.client_id)
        assert claims["scope"] == "openid email"
        assert claims["exp"] - claims["iat"] == 3600
        assert abs(claims["iat"] - time.time()) < 5

    def test_decision_O1_carries_its_family_when_it_has_one(self, acme, client):
        claims = claims_of(client.tokens_for(acme.user())["access_token"])

        assert "family_id" in claims
        assert not {"sid", "token_type", "organization_id"} & set(claims)

    def test_joserfc_accepts_it_for_its_audience_and_for_no_other(self, acme, token):
        published = jwk.KeySet.import_key_set(key_set(acme))
        claims = joserfc_jwt.decode(token, published, algorithms=["ES256"]).claims

        for audience, right in ((acme.issuer, True), ("https://api.example", False)):
            registry = joserfc_jwt.JWTClaimsRegistry(
                iss={"essential": True, "value": acme.issuer},
                aud={"essential": True, "value": audience},
                exp={"essential": True},
            )
            assert is_valid(registry, claims) is right

    def test_says_nothing_personal(self, acme, client):
        user = acme.user(name="Ada Lovelace", email="ada@acme.example", phone="+442079460018")

        text = json.dumps(claims_of(client.tokens_for(user)["access_token"]))

        for secret in (user.username, user.name, user.email, user.phone):
            assert secret not in text

    def test_case_F21_has_an_id_of_its_own(self, acme, client):
        user, browser = acme.user(), acme.browser()
        tokens = client.tokens_for(user, browser)
        issued = [tokens["access_token"]]
        issued += [client.refresh(tokens["refresh_token"]).json()["access_token"] for _ in range(10)]
        issued += [client.tokens_for(user, browser)["access_token"] for _ in range(10)]

        ids = {claims_of(token)["jti"] for token in issued}

        assert len(ids) == 21
        assert all(UUID.fullmatch(token_id) for token_id in ids)
        assert all(claims_of(token)["iat"] <= time.time() for token in issued)


def is_valid(registry, claims) -> bool:
    try:
        registry.validate(claims)
    except Exception:  # noqa: BLE001 - whatever the library says no with
        return False
    return True


class TestIdToken:
    def test_says_what_openid_connect_core_asks(self, acme, client):
        user = acme.user(name="Ada", email="ada@acme.example", phone="+442079460018")

        tokens = client.tokens_for(user, nonce='n-0S6 "é&=+/?')

        claims = verified(tokens["id_token"], key_set(acme))
        assert header_of(tokens["id_token"]) == {
            "alg": "ES256",
            "typ": "JWT",
            "kid": key_set(acme)["keys"][0]["kid"],
        }
        assert set(claims) == {
            *("iss", "sub", "aud", "exp", "iat", "auth_time", "amr", "sid", "at_hash", "nonce"),
            *("name", "username", "email", "email_verified"),
        }
        assert (claims["iss"], claims["aud"], claims["sub"]) == (acme.issuer, client.client_id, str(user.pk))
        assert claims["exp"] - claims["iat"] == 3600
        assert claims["nonce"] == 'n-0S6 "é&=+/?'
        assert claims["amr"] == ["pwd"]
        assert 0 <= claims["iat"] - claims["auth_time"] < 10

    def test_at_hash_is_the_left_half_of_the_hash_of_its_access_token(self, acme, client):
        first = client.tokens_for(acme.user())
        second = client.refresh(first["refresh_token"]).json()

        for tokens in (first, second):
            digest = hashlib.sha256(tokens["access_token"].encode("ascii")).digest()
            expected = base64.urlsafe_b64encode(digest[:16]).rstrip(b"=").decode()
            assert claims_of(tokens["id_token"])["at_hash"] == expected

    def test_has_no_nonce_that_nobody_sent(self, acme, client):
        tokens = client.tokens_for(acme.user(), nonce=None)

        assert "nonce" not in claims_of(tokens["id_token"])

    def test_auth_time_is_that_of_the_sign_in_however_old(self, acme, client):
        user, browser = acme.user(), acme.browser()
        browser.sign_in(user)
        with acme.active():
            Session.objects.filter(user=user).update(auth_time=F("auth_time") - timedelta(hours=3))

        claims = claims_of(client.tokens_for(user, browser)["id_token"])

        assert 3 * 3600 <= claims["iat"] - claims["auth_time"] < 3 * 3600 + 60

    def test_names_the_same_session_for_two_applications_of_one_browser(self, acme, client):
        user, browser = acme.user(), acme.browser()
        other = acme.application(name="Other")

        mine = claims_of(client.tokens_for(user, browser)["id_token"])
        theirs = claims_of(other.tokens_for(user, browser)["id_token"])
        elsewhere = claims_of(client.tokens_for(user)["id_token"])

        assert mine["sid"] == theirs["sid"] != elsewhere["sid"]
        assert mine["sub"] == theirs["sub"] == elsewhere["sub"]
        assert mine["aud"] != theirs["aud"]

    @pytest.mark.parametrize(
        ("scope", "released"),
        [
            ("openid", set()),
            ("openid profile", {"name", "username", "picture"}),
            ("openid email", {"email", "email_verified"}),
            ("openid phone", set()),
            ("openid urn:service:scope:organizations", set()),
        ],
    )
    def test_releases_what_its_scopes_release_and_no_more(self, acme, client, scope, released):
        user = acme.user(
            name="Ada", email="ada@acme.example", phone="+442079460018", avatar="https://acme.example/a.png"
        )
        bare = {"iss", "sub", "aud", "exp", "iat", "auth_time", "amr", "sid", "at_hash", "nonce"}

        claims = claims_of(client.tokens_for(user, scope=scope)["id_token"])

        assert set(claims) - bare == released

    def test_decision_O9_leaves_out_what_is_not_set(self, acme, client):
        claims = claims_of(client.tokens_for(acme.user("bare"))["id_token"])

        assert not {"name", "picture", "email", "email_verified"} & set(claims)
        assert None not in claims.values()
        assert "" not in claims.values()

    def test_case_F23_nothing_a_user_or_client_is_called_overrides_a_claim(self, acme):
        client, user = acme.application(name='", "iss": "evil'), acme.user(name='x", "sub": "evil')
        reserved = ("iss", "sub", "aud", "scope", "exp", "organization_id", "token_type", "client_id")
        with acme.active():
            User.objects.filter(pk=user.pk).update(custom_data=dict.fromkeys(reserved, "evil"))

        tokens = client.tokens_for(user)

        for text in (tokens["access_token"], tokens["id_token"]):
            claims = verified(text, key_set(acme))
            assert "evil" not in {str(value) for name, value in claims.items() if name != "name"}
            assert claims["iss"] == acme.issuer
            assert "organization_id" not in claims

    def test_case_F21_a_subject_is_never_used_again(self, acme, client):
        before = acme.user("phoenix")
        old = claims_of(client.tokens_for(before)["id_token"])["sub"]
        with acme.active():
            users.remove(before)

        new = claims_of(client.tokens_for(acme.user("phoenix"))["id_token"])["sub"]

        assert old != new

    def test_decision_O1_neither_kind_is_taken_for_the_other(self, acme, client):
        tokens = client.tokens_for(acme.user())

        assert is_refused(acme, tokens["id_token"])
        hinted = acme.browser().get(
            "/oidc/end-session",
            params={
                "id_token_hint": tokens["access_token"],
                "post_logout_redirect_uri": "https://rp.example/",
            },
        )
        assert "Location" not in hinted.headers

    def test_case_F09_an_access_token_with_the_type_of_an_id_token_is_refused(self, acme, client, token):
        claims = claims_of(token)

        for typ in ("JWT", "jwt", "", "at+JWT", "admin+jwt", "at+jwt "):
            assert is_refused(acme, signed_by(acme, claims, typ=typ))
        assert not is_refused(acme, signed_by(acme, claims))


# ── Forgeries ───────────────────────────────────────────────────────────────────────────────────────────────


def public_key(world) -> ec.EllipticCurvePublicKey:
    published = key_set(world)["keys"][0]
    x, y = (int.from_bytes(decode(published[name])) for name in ("x", "y"))
    return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()


def signed_es256(key: ec.EllipticCurvePrivateKey, header: dict[str, Any], claims: dict[str, Any]) -> str:
    text = unsigned(header, claims)
    return f"{text}.{raw_signature(key, text)}"


def raw_signature(key: ec.EllipticCurvePrivateKey, text: str) -> str:
    """Sign as RFC 7518 section 3.4 has it: two numbers of 32 bytes."""
    numbers = decode_dss_signature(key.sign(text.encode(), ec.ECDSA(SHA256())))
    return encode(b"".join(number.to_bytes(32, "big") for number in numbers))


def signature_of(world, text: str) -> str:
    """Return the tenant's own signature of whatever text."""
    with world.active():
        key = signing._private_key(world.tenant.pk, SigningKey.objects.active().get().pk)
        return raw_signature(key, text)


def resigned(world, header: dict[str, Any], claims: dict[str, Any]) -> str:
    """Return header and claims under the tenant's own signature."""
    text = unsigned(header, claims)
    return f"{text}.{signature_of(world, text)}"


class TestAlgorithm:
    def test_case_F01_the_public_key_is_no_secret_of_hs256(self, acme, token):
        [published] = key_set(acme)["keys"]
        key = public_key(acme)
        secrets = [
            json.dumps(published).encode(),
            json.dumps(published, separators=(",", ":"), sort_keys=True).encode(),
            key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
            key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).strip(),
            key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
            key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint),
            decode(published["x"]),
            published["x"].encode(),
            published["kid"].encode(),
            b"",
        ]

        for algorithm, digest in (("HS256", "sha256"), ("HS512", "sha512")):
            text = unsigned(header_of(token) | {"alg": algorithm}, claims_of(token))
            for secret in secrets:
                forged = f"{text}.{encode(hmac.digest(secret, text.encode(), digest))}"
                assert is_refused(acme, forged)

    @pytest.mark.parametrize(
        "algorithm",
        [
            "none",
            "None",
            "NONE",
            "nOnE",
            "",
            None,
            "es256",
            "ES256 ",
            "ES384",
            "RS256",
            "PS256",
            "EdDSA",
            0,
            ["ES256"],
        ],
        ids=repr,
    )
    def test_case_F02_no_other_algorithm_is_believed(self, acme, token, algorithm):
        header = {
            name: value
            for name, value in (header_of(token) | {"alg": algorithm}).items()
            if value is not None
        }
        text, signature = unsigned(header, claims_of(token)), token.rpartition(".")[2]

        # The last of them is good but for the name of its algorithm: ours over the very text.
        ours = signature_of(acme, text)
        for forged in (f"{text}.", text, f"{text}.{signature}", f"{text}.AA", f"{text}.{ours}"):
            assert is_refused(acme, forged)

    def test_case_F02_es256_without_a_signature_is_refused(self, acme, token):
        text = token.rpartition(".")[0]

        assert is_refused(acme, f"{text}.")
        assert is_refused(acme, text)

    def test_case_F03_the_two_verifiers_never_meet(self, acme):
        root = cast.default_world()
        answer = root.post(
            "/api/admin/sign-in", json={"username": "admin", "password": "correct horse battery staple"}
        )
        admin = answer.json()["result"]["access_token"]
        claims = claims_of(admin)
        listed = key_set(root)["keys"][0]["kid"]

        forged = [signed_by(root, claims, typ=typ) for typ in ("admin+jwt", "at+jwt", "JWT")] + [
            altered(admin, "header", alg="ES256"),
            altered(admin, "header", alg="none"),
            altered(admin, "header", alg="ES256", kid=listed, typ="at+jwt"),
            altered(admin, "claims", sub="1", exp=2**40),
        ]

        assert root.get("/api/admin/me", headers=bearer(admin)).status_code == 200
        assert all(is_refused(root, text) for text in forged)


class TestKeyId:
    @pytest.mark.parametrize(
        "kid",
        [
            *("../../dev/null", "/etc/passwd", "' OR 1=1 --", "", " ", "é", "\0", "x" * 8_000),
            *(None, 1, ["x"], {"a": 1}, True, "01890a5d-ac96-774b-bcce-b302099a8057"),
        ],
    )
    def test_case_F04_that_names_no_key_of_ours_is_refused(self, acme, token, kid):
        attacker = ec.generate_private_key(ec.SECP256R1())
        header = {
            name: value for name, value in (header_of(token) | {"kid": kid}).items() if value is not None
        }

        text = signed_es256(attacker, header, claims_of(token))

        # In a header it may be too long for any request.
        refused = acme.post("/oidc/userinfo", data={"access_token": text})
        assert refused.status_code == 401
        assert len(text) > 8_000 or is_refused(acme, text)

    def test_case_F04_of_ours_under_the_signature_of_a_stranger_is_refused(self, acme, token):
        attacker = ec.generate_private_key(ec.SECP256R1())

        assert is_refused(acme, signed_es256(attacker, header_of(token), claims_of(token)))

    def test_case_F04_of_another_tenant_is_refused_though_it_claims_to_be_of_this_one(
        self, acme, rival, token
    ):
        keys_of_others = [rival, cast.default_world()]

        for world in keys_of_others:
            assert is_refused(acme, signed_by(world, claims_of(token)))
            assert is_refused(world, signed_by(world, claims_of(token)))

    def test_case_F04_in_other_letters_is_refused(self, acme, token):
        with acme.active():
            keys.rotate()
        kid = header_of(token)["kid"]

        for spelling in (kid.upper(), kid.replace("-", ""), f"{{{kid}}}", f"urn:uuid:{kid}", f" {kid}"):
            assert is_refused(acme, altered(token, "header", kid=spelling))

    def test_case_F05_a_key_that_comes_along_is_not_used_and_nothing_is_fetched(self, acme, token):
        attacker = ec.generate_private_key(ec.SECP256R1())
        numbers = attacker.public_key().public_numbers()
        own = {"kty": "EC", "crv": "P-256", "kid": header_of(token)["kid"]} | {
            name: encode(number.to_bytes(32, "big")) for name, number in (("x", numbers.x), ("y", numbers.y))
        }
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.setblocking(False)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/keys"
            forged = [
                signed_es256(attacker, header_of(token) | extra, claims_of(token))
                for extra in (
                    {"jku": url},
                    {"x5u": url},
                    {"jwk": own},
                    {"jwk": own, "kid": "x"},
                    {"x5c": [base64.b64encode(b"x").decode()]},
                )
            ]

            assert all(is_refused(acme, text) for text in forged)
            with pytest.raises(BlockingIOError):
                listener.accept()


class TestHeader:
    @pytest.mark.parametrize("crit", [["exp"], ["b64"], [], "x", ["made-up"]])
    def test_case_F06_with_crit_is_refused_though_the_signature_is_ours(self, acme, token, crit):
        header = header_of(token) | {"crit": crit, "b64": True, "made-up": 1, "exp": 1}

        assert is_refused(acme, resigned(acme, header, claims_of(token)))
        assert not is_refused(acme, resigned(acme, header_of(token), claims_of(token)))

    @pytest.mark.parametrize("typ", [None, 1, "JWT", "at+jwt;x", ["at+jwt"]])
    def test_case_F06_of_another_type_is_refused_though_the_signature_is_ours(self, acme, token, typ):
        header = {
            name: value for name, value in (header_of(token) | {"typ": typ}).items() if value is not None
        }

        assert is_refused(acme, resigned(acme, header, claims_of(token)))

    @pytest.mark.parametrize("header", [b"[]", b"null", b"1", b'"x"', b"{", b"", b"\xff", b"[" * 10_000])
    def test_that_is_no_json_object_is_refused(self, acme, token, header):
        _, payload, signature = token.split(".")

        answer = acme.post("/oidc/userinfo", data={"access_token": f"{encode(header)}.{payload}.{signature}"})

        assert answer.status_code == 401

    @pytest.mark.parametrize("payload", [b"[]", b"null", b"{}", b'"x"', b"{", b"", b"\xff", b"NaN"])
    def test_claims_that_are_no_claims_are_refused_though_the_signature_is_ours(self, acme, token, payload):
        text = f"{token.partition('.')[0]}.{encode(payload)}"

        assert is_refused(acme, f"{text}.{signature_of(acme, text)}")


class TestSignature:
    def test_case_F07_of_impossible_numbers_is_refused(self, acme, token):
        text, _, signature = token.rpartition(".")
        r, s = decode(signature)[:32], decode(signature)[32:]
        zero, order, more = bytes(32), ORDER.to_bytes(32, "big"), (ORDER + 1).to_bytes(32, "big")
        highest = b"\xff" * 32

        for forged in (
            *(zero + zero, r + zero, zero + s, order + s, r + order, order + order, more + more),
            *(highest + s, r + highest, highest + highest, s + r, (1).to_bytes(32, "big") * 2),
        ):
            assert is_refused(acme, f"{text}.{encode(forged)}")

    def test_case_F07_the_second_signature_of_the_same_text_outlives_no_revocation(self, acme, client, token):
        text, _, signature = token.rpartition(".")
        r, s = decode(signature)[:32], int.from_bytes(decode(signature)[32:])
        # Whoever has (r, s) has (r, n - s) too: what is taken back has to be known by its id.
        twin = f"{text}.{encode(r + (ORDER - s).to_bytes(32, 'big'))}"

        acme.post("/oidc/revoke", data={"token": token}, auth=client.basic)

        assert twin != token
        assert is_refused(acme, token)
        assert is_refused(acme, twin)

    def test_case_F07_in_another_encoding_is_refused(self, acme, token):
        text, _, signature = token.rpartition(".")
        raw = decode(signature)
        der = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))

        for forged in (
            *(
                encode(der),
                encode(raw[:32] + b"\0" + raw[32:]),
                encode(raw + b"\0"),
                encode(b"\0" + raw),
                encode(raw[:63]),
                encode(raw * 2),
            ),
            *(raw.hex(), base64.b64encode(raw).decode(), signature + "=", signature + "=="),
        ):
            assert is_refused(acme, f"{text}.{forged}")

    def test_case_F22_in_another_spelling_of_the_same_bytes_is_refused(self, acme, token):
        last = token[-1]
        alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
        place = alphabet.index(last)

        # 64 bytes leave four bits of the last letter unused: sixteen letters mean the same.
        spellings = [alphabet[place // 16 * 16 + n] for n in range(16)]

        assert {decode(token[:-1] + letter)[-64:] for letter in spellings}
        assert all(is_refused(acme, token[:-1] + letter) for letter in spellings if letter != last)


class TestShape:
    def test_case_F08_what_is_encrypted_or_nested_is_refused_unread(self, acme, token):
        jwe = encode(json.dumps({"alg": "dir", "enc": "A256GCM", "zip": "DEF"}).encode())
        header = header_of(token)

        forged = [
            f"{jwe}..{encode(bytes(12))}.{encode(bytes(9_000))}.{encode(bytes(16))}",
            f"{jwe}.{encode(bytes(256))}.{encode(bytes(12))}.{encode(bytes(12))}.{encode(bytes(16))}",
            resigned(acme, header | {"cty": "JWT"}, {"jwt": token}),
        ]

        answers = [acme.post("/oidc/userinfo", data={"access_token": text}) for text in forged]
        assert [answer.status_code for answer in answers] == [401] * 3

    def test_case_F22_anything_added_or_cut_makes_it_worthless(self, acme, token):
        header, payload, signature = token.split(".")

        for forged in (
            *(token[:-1], token[:-2], token[:-10], token[1:], token + "A", token + ".", token + ".x"),
            *(f".{token}", f"{header}..{signature}", f"{header}.{payload}", header, f"{token}.{signature}"),
            *(f"{header}.{payload}.{signature}.", token.upper(), token.lower(), token.swapcase()),
            *(f"{header}. {payload}.{signature}", f"{header}.{payload}=.{signature}", f'"{token}"'),
            *(f"{payload}.{header}.{signature}", f"{token},{token}", token.replace(".", "..", 1)),
        ):
            assert is_refused(acme, forged), forged

    @pytest.mark.parametrize("around", ["{}\n", "\n{}", "{}\r\n", "{} x", "{}\u200b", "\ufeff{}", "{}\u2028"])
    def test_case_F22_white_space_in_a_body_is_part_of_it(self, acme, token, around):
        answer = acme.post("/oidc/userinfo", data={"access_token": around.format(token)})

        assert answer.status_code == 401


class TestTimes:
    def answer(self, acme, client, token, **times):
        claims = {name: value for name, value in (claims_of(token) | times).items() if value != "left out"}
        return client.userinfo(signed_by(acme, claims)).status_code

    def test_case_F16_ends_at_the_second_it_expires(self, acme, client, token):
        now = int(time.time())

        assert self.answer(acme, client, token, exp=now - 1) == 401
        assert self.answer(acme, client, token, exp=now) == 401
        assert self.answer(acme, client, token, exp=now + 60) == 200

    @pytest.mark.parametrize("name", ["iat", "nbf"])
    def test_case_F16_does_not_begin_before_its_time(self, acme, client, token, name):
        now = int(time.time())

        assert self.answer(acme, client, token, **{name: now + 30}) == 401
        assert self.answer(acme, client, token, **{name: now + 3600}) == 401
        assert self.answer(acme, client, token, **{name: now}) == 200

    @pytest.mark.parametrize("name", ["exp", "iat", "nbf"])
    @pytest.mark.parametrize(
        "value",
        [
            *("2099-01-01", str(2**32), 4_102_444_800.0, 4_102_444_800.5, -1, 10**18, -(10**18)),
            *(2**63 - 1, None, True, [], {}, "left out"),
        ],
        ids=repr,
    )
    def test_case_F17_are_whole_seconds_of_this_era(self, acme, client, token, name, value):
        status = self.answer(acme, client, token, **{name: value})

        assert status == (200 if (name, value) == ("nbf", "left out") else 401)

    @pytest.mark.parametrize("name", ["iss", "sub", "client_id", "family_id"])
    @pytest.mark.parametrize("value", ["left out", None, "", 1, [], {"a": 1}, "x\0", "é", "x" * 3_000])
    def test_no_other_claim_may_be_something_else(self, acme, client, token, name, value):
        assert self.answer(acme, client, token, **{name: value}) == 401

    def test_case_F11_a_token_of_a_machine_is_nobody_even_if_it_names_a_user(self, acme, client, token):
        assert self.answer(acme, client, token, token_type="m2m") == 401

    @pytest.mark.parametrize("name", ["scope", "jti", "aud"])
    @pytest.mark.parametrize("value", ["left out", None, 1, [1], {"a": 1}, "x\0"])
    def test_no_claim_may_have_another_shape(self, acme, client, token, name, value):
        assert self.answer(acme, client, token, **{name: value}) == 401

    @pytest.mark.parametrize("name", ["iss", "sub", "aud", "client_id", "jti", "scope", "exp", "iat", "nbf"])
    @pytest.mark.parametrize("value", ["left out", None, 1.5, 10**18, [1], {"a": 1}, "x\0"], ids=named)
    def test_nor_where_machines_come_in(self, acme, name, value):
        token = acme.application("MachineToMachine").token(grant_type="client_credentials")
        claims = claims_of(token.json()["access_token"]) | {name: value}
        strange = signed_by(acme, {key: said for key, said in claims.items() if said != "left out"})

        answer = acme.get("/api/v1/users", headers=bearer(strange))

        left_out = (name, value) == ("nbf", "left out")
        assert answer.status_code == (403 if left_out else 401)

    @pytest.mark.parametrize("name", ["exp", "iat", "jti", "sub", "client_id", "scope"])
    @pytest.mark.parametrize("value", ["left out", None, 1.5, 10**18, "x\0", []], ids=named)
    def test_nor_where_tokens_are_taken_back(self, acme, client, token, name, value):
        claims = {key: said for key, said in (claims_of(token) | {name: value}).items() if said != "left out"}

        answer = acme.post("/oidc/revoke", data={"token": signed_by(acme, claims)}, auth=client.basic)

        assert answer.status_code == 200


@pytest.fixture(scope="module")
def flipped(address):
    """A tenant and a good token of it."""
    world = cast.new_world("Flipped")
    return world, world.application().tokens_for(world.user())["access_token"]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(data=st.data())
def test_no_letter_of_a_token_can_be_another(flipped, data):
    world, token = flipped
    place = data.draw(st.integers(0, len(token) - 1))
    letter = data.draw(st.sampled_from("ABCxyz019-_.").filter(lambda letter: letter != token[place]))

    answer = world.get("/oidc/userinfo", headers=bearer(token[:place] + letter + token[place + 1 :]))

    assert answer.status_code == 401
