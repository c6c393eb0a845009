"""Signing keys: the published set, rotation, and signatures."""

import base64
import re

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from audit.models import Entry
from identity.core import tenancy
from oidc.keys import services as keys
from oidc.keys import signing
from oidc.keys.models import SigningKey
from tests.support import independent
from tests.support.independent import bearer, header_of, key_set, kids, verified
from tests.support.threads import at_once

pytestmark = pytest.mark.usefixtures("compared")

PATH = "/.well-known/jwks.json"
MEMBERS = {"kty", "crv", "x", "y", "kid", "use", "alg"}
ROUNDS = 5


def machine_token(machine):
    answer = machine.token(grant_type="client_credentials")
    assert answer.status_code == 200, answer.text
    return answer.json()["access_token"]


def x_of(key):
    return base64.urlsafe_b64decode(key.public_jwk["x"] + "=")


class TestKeySet:
    """GET /.well-known/jwks.json."""

    def test_case_F19_lists_exactly_the_members_of_the_interface(self, acme):
        with acme.active():
            keys.rotate()

        answer = acme.get(PATH)

        assert set(answer.json()) == {"keys"}
        assert len(answer.json()["keys"]) == 2
        for key in answer.json()["keys"]:
            assert set(key) == MEMBERS
            assert (key["kty"], key["crv"], key["use"], key["alg"]) == ("EC", "P-256", "sig", "ES256")

    def test_case_F19_a_private_half_in_the_row_would_still_not_be_published(self, acme):
        with acme.active():
            row = SigningKey.objects.get()
            SigningKey.objects.update(public_jwk=row.public_jwk | {"d": "canary-of-a-private-half"})

        answer = acme.get(PATH)

        assert "canary" not in answer.text
        assert set(answer.json()["keys"][0]) == MEMBERS

    def test_case_F19_coordinates_are_32_bytes_with_their_leading_zeros(self, acme):
        with acme.active():
            made = [signing.generate().public_jwk for _ in range(2_000)]

        coordinates = [key[axis] for key in made for axis in ("x", "y")]

        assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", text) for text in coordinates)
        decoded = [base64.urlsafe_b64decode(text + "=") for text in coordinates]
        assert {len(value) for value in decoded} == {32}
        # One in 256 begins with a zero: among 4,000 some surely do, or nothing was tested.
        assert any(value[0] == 0 for value in decoded)

    def test_case_F19_a_coordinate_that_begins_with_zero_verifies(self, acme):
        with acme.active():
            key = next(key for key in iter(signing.generate, None) if x_of(key)[0] == 0)
            SigningKey.objects.active().delete()
            key.save(force_insert=True)
            keys.rotate()
        machine = acme.application("MachineToMachine")

        token = machine_token(machine)

        assert header_of(token)["kid"] == str(key.pk)
        assert verified(token, key_set(acme))["sub"] == machine.client_id

    def test_lists_the_active_key_first_then_the_newest(self, acme):
        with acme.active():
            first = SigningKey.objects.get()
            second_key, third = keys.rotate(), keys.rotate()

        listed = kids(acme)

        assert listed == [str(third.pk), str(second_key.pk), str(first.pk)]

    def test_decision_H11_has_an_etag_that_changes_with_the_keys(self, acme):
        before = acme.get(PATH)
        with acme.active():
            keys.rotate()

        after = acme.get(PATH, headers={"If-None-Match": before.headers["ETag"]})
        again = acme.get(PATH, headers={"If-None-Match": after.headers["ETag"]})

        assert (before.status_code, after.status_code, again.status_code) == (200, 200, 304)
        assert again.headers["Access-Control-Allow-Origin"] == "*"

    def test_decision_H11_may_be_read_from_any_origin_and_kept(self, acme):
        answer = acme.get(PATH, headers={"Origin": "https://anywhere.example"})

        assert answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.headers["Content-Type"] == "application/json"
        # Short enough that a relying party sees a new key within an hour.
        age = re.fullmatch(r"public, max-age=(\d+)", answer.headers["Cache-Control"])
        assert age is not None
        assert 0 < int(age[1]) <= 3600

    def test_head_has_no_body(self, acme):
        answer = httpx.head(f"{acme.address}{PATH}")

        assert answer.status_code == 200
        assert answer.content == b""
        assert answer.headers["ETag"] == acme.get(PATH).headers["ETag"]

    def test_decision_T2_two_tenants_share_no_key(self, acme, rival):
        assert set(kids(acme)).isdisjoint(kids(rival))

    def test_costs_one_query(self, acme):
        browser = Client()
        place = f"/t/{acme.tenant.slug}{PATH}"
        browser.get(place)

        with CaptureQueriesContext(connection) as queries:
            answer = browser.get(place)

        assert answer.status_code == 200
        assert len(queries) == 1


class TestRotate:
    def test_case_F18_new_tokens_name_the_new_key_and_old_ones_still_verify(self, acme):
        machine = acme.application("MachineToMachine")
        old = machine_token(machine)
        with acme.active():
            key = keys.rotate()

        new = machine_token(machine)

        assert header_of(new)["kid"] == str(key.pk) != header_of(old)["kid"]
        published = key_set(acme)
        assert verified(old, published)["jti"] != verified(new, published)["jti"]

    def test_case_F18_old_tokens_of_people_go_on(self, acme):
        client, user = acme.application(), acme.user()
        tokens = client.tokens_for(user)
        with acme.active():
            keys.rotate()

        answer = client.userinfo(tokens["access_token"])

        assert answer.status_code == 200
        assert client.refresh(tokens["refresh_token"]).status_code == 200

    def test_counts_at_once_in_other_processes(self, acme):
        machine = acme.application("MachineToMachine")
        for _ in range(10):
            with acme.active():
                key = keys.rotate()

            # Each of them may be answered by another worker.
            seen = {header_of(machine_token(machine))["kid"] for _ in range(4)}

            assert seen == {str(key.pk)}
            assert kids(acme)[0] == str(key.pk)

    def test_leaves_other_tenants_alone(self, acme, rival):
        theirs = kids(rival)

        with acme.active():
            keys.rotate()

        assert kids(rival) == theirs

    def test_returns_the_active_key(self, acme):
        with acme.active():
            key = keys.rotate()

            assert SigningKey.objects.active().get() == key
            assert (key.status, key.algorithm) == ("active", "ES256")

    def test_needs_a_tenant(self, acme):
        with pytest.raises(tenancy.NoActiveTenant):
            keys.rotate()

        with tenancy.using(tenancy.EVERYWHERE), pytest.raises(tenancy.NoActiveTenant):
            keys.rotate()

    def test_case_M07_F20_ten_rotations_at_once_leave_one_active_key(self, acme):
        before = len(kids(acme))

        for _ in range(ROUNDS):
            at_once(10, lambda _: self.rotated(acme))

            with acme.active():
                assert SigningKey.objects.active().count() == 1
                assert len(kids(acme)) == before + 10
                SigningKey.objects.filter(status="previous").delete()

    @staticmethod
    def rotated(world):
        with world.active():
            return keys.rotate()

    def test_case_M07_the_database_itself_holds_one_active_key(self, acme):
        with acme.active():
            second_one = keys.prepare()
            with (
                pytest.raises(IntegrityError, match=r"(?i)unique"),
                transaction.atomic(),
            ):
                SigningKey.objects.filter(pk=second_one.pk).update(
                    status="active", activated_at=timezone.now()
                )

            assert SigningKey.objects.active().count() == 1

    def test_case_M08_every_token_issued_while_keys_rotate_verifies_afterwards(self, acme):
        machine = acme.application("MachineToMachine")

        def work(index):
            if index % 2:
                for _ in range(6):
                    self.rotated(acme)
                return []
            return [machine_token(machine) for _ in range(20)]

        issued = [token for tokens in at_once(6, work) for token in tokens]

        published = key_set(acme)
        assert len(issued) == 60
        assert len({header_of(token)["kid"] for token in issued}) > 1
        for token in issued:
            assert verified(token, published)["client_id"] == machine.client_id

    def test_decision_A1_is_written_down(self, acme):
        with acme.active():
            key = keys.rotate()

        entry = Entry.objects.filter(tenant_id=acme.tenant.pk, key="SigningKey.Rotate").get()
        assert entry.payload == {"kid": str(key.pk), "algorithm": "ES256"}


def signature(token: str) -> bytes:
    return base64.urlsafe_b64decode(token.rpartition(".")[2] + "==")


def starts_with_zero(token: str) -> bool:
    """Tell whether one of the two numbers of a signature starts with a zero byte."""
    return 0 in (signature(token)[0], signature(token)[32])


class TestSignatures:
    """What libraries that did not make them say of our tokens, and what we say of theirs."""

    def test_signatures_are_64_raw_bytes_whatever_their_numbers(self, acme):
        with acme.active():
            key_id = SigningKey.objects.active().get().pk
            tokens = [signing.sign({"n": 0}, typ="JWT", key_id=key_id)]
            # One signature in 128 has a number that starts with a zero byte.
            while not starts_with_zero(tokens[-1]) and len(tokens) < 10_000:
                tokens.append(signing.sign({"n": len(tokens)}, typ="JWT", key_id=key_id))

        assert {len(signature(token)) for token in tokens} == {64}
        assert starts_with_zero(tokens[-1])
        published = key_set(acme)
        shown = [tokens[-1], *tokens[:20]]
        assert [verified(token, published)["n"] for token in shown] == [
            len(tokens) - 1,
            *range(len(tokens))[:20],
        ]

    def test_case_F01_F02_an_independent_library_agrees_that_our_algorithm_is_es256(self, acme):
        machine = acme.application("MachineToMachine")
        token = machine_token(machine)

        assert header_of(token)["alg"] == "ES256"
        key = jwt.PyJWKSet.from_dict(key_set(acme))[header_of(token)["kid"]]
        for algorithm in ("HS256", "RS256", "none"):
            with pytest.raises(jwt.InvalidTokenError):
                jwt.decode(token, key, algorithms=[algorithm])

    def test_case_F05_a_key_that_the_token_brings_along_is_not_used(self, acme):
        client, user = acme.application(), acme.user()
        claims = independent.claims_of(client.tokens_for(user)["access_token"])
        attacker = ec.generate_private_key(ec.SECP256R1())
        theirs = jwt.algorithms.ECAlgorithm.to_jwk(attacker.public_key(), as_dict=True)
        kid = kids(acme)[0]

        for extra in ({"jwk": theirs}, {"jku": "http://127.0.0.1:1/jwks"}, {"x5u": "http://127.0.0.1:1/x"}):
            headers = {"kid": kid, "typ": "at+jwt"} | extra
            forged = jwt.encode(claims, attacker, algorithm="ES256", headers=headers)
            answer = acme.get("/oidc/userinfo", headers=bearer(forged))

            assert answer.status_code == 401
