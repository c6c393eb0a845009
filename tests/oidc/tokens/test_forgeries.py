"""Forged and altered tokens are refused."""

import base64
import hmac
import json
import socket
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st

from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import cast
from tests.support.forgery import altered, decode, encode, signed_by, unsigned
from tests.support.independent import bearer, claims_of, header_of, key_set
from tests.support.tokens import is_refused

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551  # of the group of P-256


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
        key = signing._private_key(world.tenant.pk, SigningKey.objects.active().get().pk).key
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
        # With (r, s) a client has (r, n - s), too: revoked tokens have to be known by their id.
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
