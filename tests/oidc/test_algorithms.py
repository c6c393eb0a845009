"""Keys of several algorithms: which one signs what, and what clients with other libraries make of it."""

import base64
import hashlib
import hmac

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from audit.models import Entry
from identity.core.algorithms import Algorithm
from management.upgrades.models import Node
from oidc.keys import jws, signing, usage
from oidc.keys import services as keys
from oidc.keys.algorithms import SIGNERS
from oidc.keys.models import SigningKey
from tests.support import management
from tests.support.end_session import HOME, is_refused, sent_to, visit
from tests.support.independent import bearer, claims_of, header_of, key_set, verified
from tests.support.management import refusal_of, result_of
from tests.support.threads import at_once

OTHERS = ["RS256", "PS256", "EdDSA"]
MEMBERS = {
    "ES256": {"kty", "crv", "x", "y"},
    "RS256": {"kty", "n", "e"},
    "PS256": {"kty", "n", "e"},
    "EdDSA": {"kty", "crv", "x"},
}
DISCOVERY = "/.well-known/openid-configuration"
other = pytest.mark.parametrize("algorithm", OTHERS)


@pytest.fixture
def admin(acme):
    return management.superuser(acme)


def application_of(acme, admin, **metadata):
    client = acme.application("Traditional", post_logout_redirect_uris=[HOME])
    result_of(admin.patch(f"/applications/{client.application.pk}", oidc_client_metadata=metadata))
    return client


def add(admin, algorithm):
    return result_of(admin.post("/signing-keys/rotate", algorithm=algorithm))


def resource_of(admin, algorithm):
    made = {"name": "API", "indicator": "https://api.example", "access_token_signing_alg": algorithm}
    return result_of(admin.post("/resources", **made))


def active(acme, algorithm) -> str:
    with acme.active():
        return str(SigningKey.objects.active().get(algorithm=algorithm).pk)


class TestAddingAnAlgorithm:
    @other
    def test_decision_P7_one_call_publishes_a_key_with_the_members_of_its_kind(self, acme, admin, algorithm):
        made = add(admin, algorithm)

        published = {key["alg"]: key for key in key_set(acme)["keys"]}
        assert set(published) == {"ES256", algorithm}
        assert set(published[algorithm]) == MEMBERS[algorithm] | {"kid", "use", "alg"}
        assert set(published["ES256"]) == MEMBERS["ES256"] | {"kid", "use", "alg"}
        assert (made["id"], made["status"]) == (published[algorithm]["kid"], "active")
        shown = {key["algorithm"]: key["is_default"] for key in result_of(admin.get("/signing-keys"))}
        assert shown == {"ES256": True, algorithm: False}

    def test_decision_P7_rsa_keys_have_2048_bits(self, acme, admin):
        add(admin, "RS256")

        [key] = [key for key in key_set(acme)["keys"] if key["alg"] == "RS256"]
        assert len(base64.urlsafe_b64decode(key["n"] + "==")) == 256
        assert key["e"] == "AQAB"

    def test_decision_P10_discovery_lists_the_algorithms_that_have_an_active_key(self, acme, rival, admin):
        before = acme.get(DISCOVERY)
        result_of(admin.post("/signing-keys/prepare", algorithm="PS256"))
        prepared = acme.get(DISCOVERY)
        add(admin, "EdDSA")
        add(admin, "RS256")

        after = acme.get(DISCOVERY).json()

        assert before.json()["id_token_signing_alg_values_supported"] == ["ES256"]
        assert "userinfo_signing_alg_values_supported" not in before.json()
        assert prepared.text == before.text
        assert after["id_token_signing_alg_values_supported"] == ["ES256", "RS256", "EdDSA"]
        assert after["userinfo_signing_alg_values_supported"] == ["ES256", "RS256", "EdDSA"]
        assert acme.get(DISCOVERY, headers={"If-None-Match": before.headers["ETag"]}).status_code == 200
        assert rival.get(DISCOVERY).json()["id_token_signing_alg_values_supported"] == ["ES256"]

    def test_decision_P8_prepare_and_rotate_take_the_algorithm(self, acme, admin):
        first = add(admin, "RS256")
        waiting = result_of(admin.post("/signing-keys/prepare", algorithm="RS256"))
        es256 = result_of(admin.post("/signing-keys/prepare"))

        rotated = result_of(admin.post("/signing-keys/rotate", algorithm="RS256"))

        assert rotated["id"] == waiting["id"] != first["id"]
        listed = {key["id"]: key for key in result_of(admin.get("/signing-keys"))}
        assert listed[first["id"]]["status"] == "previous"
        assert listed[es256["id"]]["status"] == "next"
        assert es256["algorithm"] == "ES256"
        assert [key["is_default"] for key in listed.values()].count(True) == 1

    def test_the_active_key_of_any_algorithm_cannot_be_deleted(self, acme, admin):
        first = add(admin, "RS256")
        refused = admin.delete(f"/signing-keys/{first['id']}")
        add(admin, "RS256")

        assert "rotate first" in refusal_of(refused, 400)
        assert result_of(admin.delete(f"/signing-keys/{first['id']}")) is None

    @pytest.mark.parametrize("wrong", ["HS256", "none", "RS512", "es256", 1, ["RS256"], {}, True])
    def test_an_unknown_algorithm_is_refused_with_those_that_exist(self, acme, admin, wrong):
        application = acme.application("Traditional").application.pk
        calls = [
            admin.post("/signing-keys/rotate", algorithm=wrong),
            admin.post("/signing-keys/prepare", algorithm=wrong),
            admin.post("/resources", name="x", indicator="https://x.example", access_token_signing_alg=wrong),
            *(
                admin.patch(f"/applications/{application}", oidc_client_metadata={name: wrong})
                for name in ("id_token_signed_response_alg", "userinfo_signed_response_alg")
            ),
        ]

        for answer in calls:
            assert "must be one of ES256, RS256, PS256, EdDSA" in refusal_of(answer, 400)
        assert len(key_set(acme)["keys"]) == 1

    def test_decision_P8_not_while_a_node_of_an_older_release_serves(self, acme, admin):
        application = acme.application("Traditional").application.pk
        old = Node.objects.create(id="old:8000", release="0.1.3", knows=["keys.0002_signing_key_usage"])
        try:
            metadata = {"id_token_signed_response_alg": "RS256"}
            refused = [
                admin.post("/signing-keys/rotate", algorithm="RS256"),
                admin.post("/signing-keys/prepare", algorithm="EdDSA"),
                admin.patch("/oidc-settings", default_signing_alg="RS256"),
                admin.patch(f"/applications/{application}", oidc_client_metadata=metadata),
                admin.post(
                    "/resources", name="x", indicator="https://x.example", access_token_signing_alg="RS256"
                ),
            ]
            rotated = admin.post("/signing-keys/rotate")
        finally:
            old.delete()

        for answer in refused:
            assert "a node of an older release still serves" in refusal_of(answer, 503)
            assert answer.headers["Retry-After"] == "180"
        assert result_of(rotated)["algorithm"] == "ES256"
        assert {key["alg"] for key in key_set(acme)["keys"]} == {"ES256"}
        assert add(admin, "RS256")["algorithm"] == "RS256"

    def test_rsa_keys_are_generated_outside_transactions(self, acme, monkeypatch):
        inside: list[bool] = []
        generate = signing.generate

        def noted(algorithm: str) -> SigningKey:
            inside.append(connection.in_atomic_block)
            return generate(algorithm)

        monkeypatch.setattr(signing, "generate", noted)

        with acme.active():
            keys.ensure("RS256")
            keys.prepare("RS256")
            keys.rotate("RS256")
            keys.rotate("RS256")

        assert inside == [False] * 3

    def test_two_at_once_create_one_key(self, acme):
        def work(_: int) -> None:
            with acme.active():
                keys.ensure("EdDSA")

        at_once(4, work)

        assert [key["alg"] for key in key_set(acme)["keys"]].count("EdDSA") == 1


@other
class TestWhichKeySigns:
    def test_decision_P9_id_tokens_by_the_application(self, acme, admin, algorithm):
        client = application_of(acme, admin, id_token_signed_response_alg=algorithm)
        user = acme.user()

        issued = client.tokens_for(user)
        refreshed = client.refresh(issued["refresh_token"]).json()

        for tokens in (issued, refreshed):
            assert header_of(tokens["id_token"])["alg"] == algorithm
            assert header_of(tokens["access_token"])["alg"] == "ES256"
            claims = verified(tokens["id_token"], key_set(acme))
            hashed = hashlib.new("sha512" if algorithm == "EdDSA" else "sha256")
            hashed.update(tokens["access_token"].encode())
            half = hashed.digest()[: hashed.digest_size // 2]
            assert claims["at_hash"] == base64.urlsafe_b64encode(half).rstrip(b"=").decode()
            assert client.userinfo(tokens["access_token"]).json()["sub"] == str(user.pk)

    def test_decision_P9_an_application_without_one_keeps_the_default(self, acme, admin, algorithm):
        add(admin, algorithm)

        tokens = acme.application("Traditional").tokens_for(acme.user())

        assert {header_of(tokens[name])["alg"] for name in ("id_token", "access_token")} == {"ES256"}

    def test_decision_P9_access_tokens_by_the_resource(self, acme, admin, algorithm):
        resource_of(admin, algorithm)
        client, machine = acme.application("Traditional"), acme.application("MachineToMachine")

        users = client.tokens_for(acme.user(), resource="https://api.example")
        form = {"grant_type": "client_credentials", "resource": "https://api.example"}
        own = [machine.token(**form).json() for _ in range(3)]
        without = machine.token(grant_type="client_credentials").json()

        for tokens in (users, *own):
            assert header_of(tokens["access_token"])["alg"] == algorithm
            assert verified(tokens["access_token"], key_set(acme))["aud"] == "https://api.example"
        assert header_of(users["id_token"])["alg"] == "ES256"
        assert header_of(without["access_token"])["alg"] == "ES256"

    def test_decision_P9_a_rotation_counts_for_a_remembered_client_too(self, acme, admin, algorithm):
        resource_of(admin, algorithm)
        machine = acme.application("MachineToMachine")
        form = {"grant_type": "client_credentials", "resource": "https://api.example"}
        before = [header_of(machine.token(**form).json()["access_token"])["kid"] for _ in range(2)]

        new = add(admin, algorithm)

        after = [header_of(machine.token(**form).json()["access_token"])["kid"] for _ in range(3)]
        assert set(after) == {new["id"]}
        assert set(before) & set(after) == set()

    def test_decision_P9_the_default_may_be_another(self, acme, admin, algorithm):
        client, machine = acme.application("Traditional"), acme.application("MachineToMachine")
        machine.token(grant_type="client_credentials")

        shown = result_of(admin.patch("/oidc-settings", default_signing_alg=algorithm))
        tokens = client.tokens_for(acme.user())
        own = [machine.token(grant_type="client_credentials").json() for _ in range(3)]
        rotated = result_of(admin.post("/signing-keys/rotate"))
        back = result_of(admin.patch("/oidc-settings", default_signing_alg="ES256"))

        assert shown["default_signing_alg"] == algorithm
        assert back["default_signing_alg"] == "ES256"
        for token in (tokens["access_token"], tokens["id_token"], *(one["access_token"] for one in own)):
            assert header_of(token)["alg"] == algorithm
            verified(token, key_set(acme))
        assert (rotated["algorithm"], rotated["is_default"]) == (algorithm, True)
        again = machine.token(grant_type="client_credentials").json()["access_token"]
        assert header_of(again)["alg"] == "ES256"

    def test_decision_K2_counts_the_tokens_of_both_keys(self, acme, admin, algorithm):
        client = application_of(acme, admin, id_token_signed_response_alg=algorithm)
        client.tokens_for(acme.user())

        with acme.active():
            lasts = [usage.get_last_expiry(key) for key in SigningKey.objects.active()]
        assert len(lasts) == 2
        assert None not in lasts
        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="Token.Exchange").latest("pk")
        assert entry.payload["kid"] == active(acme, "ES256")
        assert entry.payload["id_token_kid"] == active(acme, algorithm)

    def test_decision_P11_userinfo_is_signed_for_an_application_that_asks(self, acme, admin, algorithm):
        client = application_of(acme, admin, userinfo_signed_response_alg=algorithm)
        user = acme.user(email="ada@acme.example")
        tokens = client.tokens_for(user)

        answer = client.userinfo(tokens["access_token"])

        assert answer.headers["Content-Type"] == "application/jwt"
        assert answer.headers["Cache-Control"] == "no-store"
        claims = verified(answer.text, key_set(acme))
        assert header_of(answer.text)["alg"] == algorithm
        assert (claims["iss"], claims["aud"]) == (acme.issuer, client.client_id)
        assert (claims["sub"], claims["email"]) == (str(user.pk), "ada@acme.example")
        plain = acme.application("Traditional")
        unsigned = plain.userinfo(plain.tokens_for(user)["access_token"])
        assert unsigned.headers["Content-Type"] == "application/json"

    def test_decision_P11_signed_userinfo_is_neither_id_token_nor_access_token(self, acme, admin, algorithm):
        client = application_of(acme, admin, userinfo_signed_response_alg=algorithm)
        here = visit(acme, client)
        signed = client.userinfo(here.tokens["access_token"]).text

        assert is_refused(here.end(id_token_hint=signed, post_logout_redirect_uri=HOME))
        assert acme.get("/oidc/userinfo", headers=bearer(signed)).status_code == 401
        assert here.is_signed_in()

    def test_hints_and_signing_out_work(self, acme, admin, algorithm):
        here = visit(acme, application_of(acme, admin, id_token_signed_response_alg=algorithm))

        silent = here.browser.authorize(here.client, prompt="none", id_token_hint=here.hint)
        ended = here.end(id_token_hint=here.hint, post_logout_redirect_uri=HOME)

        assert "code=" in silent.headers["Location"]
        assert sent_to(ended) == (HOME, {})
        assert not here.is_signed_in()

    def test_the_management_api_accepts_its_tokens(self, acme, admin, algorithm):
        result_of(admin.patch("/oidc-settings", default_signing_alg=algorithm))
        robot = management.machine(acme)

        assert header_of(str(robot.token))["alg"] == algorithm
        assert result_of(robot.get("/users"))["total"] == 0


class TestConfusion:
    """RFC 8725 section 2.1: the token never decides how it is verified."""

    @pytest.mark.parametrize("header", [*Algorithm.values, "HS256", "none", "RS384", "Ed25519"])
    @pytest.mark.parametrize("algorithm", Algorithm.values)
    def test_case_PT2_only_the_algorithm_of_the_key_is_accepted(self, acme, algorithm, header):
        """Each header, with a signature that the private key makes in any way that it can."""
        with acme.active():
            keys.ensure(algorithm)
            kid = SigningKey.objects.active().get(algorithm=algorithm).pk
            loaded = signing._private_key(acme.tenant.pk, kid)
            text = f'{{"alg":"{header}","typ":"at+jwt","kid":"{kid}"}}'
            signed = f"{jws.encode(text.encode())}.{jws.encode(b'{}')}"
            able = [signer for signer in SIGNERS.values() if isinstance(loaded.key, signer.key_type)]

            accepted = []
            for signer in able:
                token = f"{signed}.{jws.encode(signer.sign(loaded.key, signed.encode()))}"
                try:
                    signing.verify(token, typ="at+jwt")
                except jws.InvalidToken:
                    continue
                accepted.append(signer)

        assert accepted == ([SIGNERS[algorithm]] if header == algorithm else [])

    def test_case_PT1_a_public_key_is_no_secret(self, acme, admin):
        """The modulus of an RS256 key as the secret of HS256, in the spellings that libraries have used."""
        kid = add(admin, "RS256")["id"]
        with acme.active():
            row = SigningKey.objects.get(pk=kid)
            pem = signing._public_key(acme.tenant.pk, row.pk).key.public_bytes(*_pem())
        text = f'{{"alg":"HS256","typ":"at+jwt","kid":"{kid}"}}'
        signed = f"{jws.encode(text.encode())}.{jws.encode(b'{}')}"

        for secret in (pem, pem.strip(), row.public_jwk["n"].encode()):
            mac = hmac.digest(secret, signed.encode(), "sha256")
            token = f"{signed}.{jws.encode(mac)}"
            with acme.active(), pytest.raises(jws.InvalidToken):
                signing.verify(token, typ="at+jwt")
            assert acme.get("/oidc/userinfo", headers=bearer(token)).status_code == 401

    def test_case_PT3_an_rsa_key_serves_one_algorithm(self, acme, admin):
        rs256, ps256 = add(admin, "RS256"), add(admin, "PS256")

        kinds = {key["kid"]: key for key in key_set(acme)["keys"]}
        assert kinds[rs256["id"]]["n"] != kinds[ps256["id"]]["n"]
        assert (kinds[rs256["id"]]["alg"], kinds[ps256["id"]]["alg"]) == ("RS256", "PS256")

    def test_the_keys_of_another_tenant_verify_nothing(self, acme, rival, admin):
        result_of(admin.patch("/oidc-settings", default_signing_alg="RS256"))
        client = acme.application("Traditional")
        token = client.tokens_for(acme.user())["access_token"]

        assert header_of(token)["alg"] == "RS256"
        assert rival.get("/oidc/userinfo", headers=bearer(token)).status_code == 401
        assert acme.get("/oidc/userinfo", headers=bearer(token)).status_code == 200


class TestAtTheDatabase:
    def test_decision_P7_one_active_key_of_an_algorithm_and_one_default(self, acme):
        with acme.active():
            keys.ensure("EdDSA")
            for algorithm, is_default in (("EdDSA", False), ("RS256", True)):
                key = signing.generate(algorithm)
                key.status, key.activated_at = SigningKey.Status.ACTIVE, timezone.now()
                key.is_default = is_default
                with pytest.raises(IntegrityError, match=r"(?i)unique"), transaction.atomic():
                    key.save(force_insert=True)

    def test_a_key_that_a_node_of_an_older_release_rotates_is_the_default(self, acme):
        """Such a node writes neither algorithm nor default."""
        with acme.active():
            prepared = keys.prepare()
            SigningKey.objects.active().update(status="previous", retired_at=prepared.created_at)
            SigningKey.objects.filter(pk=prepared.pk).update(
                status="active", activated_at=prepared.created_at
            )

            assert SigningKey.objects.default().get() == prepared
        machine = acme.application("MachineToMachine")
        token = machine.token(grant_type="client_credentials").json()["access_token"]
        assert header_of(token)["kid"] == str(prepared.pk)
        assert claims_of(token)["iss"] == acme.issuer


def _pem():
    return Encoding.PEM, PublicFormat.SubjectPublicKeyInfo
