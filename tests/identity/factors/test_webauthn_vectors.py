"""The test vectors of WebAuthn Level 3: what the standard accepts passes, and any change of it is refused."""

import copy
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from identity.core import tenancy
from identity.factors import ceremonies, challenges, credential_json
from identity.factors.ceremonies import StoredPasskey
from identity.factors.challenges import AcceptedChallenge, Binding, Ceremony
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from tests.support import webauthn_vectors
from tests.support.passkey_device import data_of, decode, encode
from tests.support.webauthn_vectors import ACCEPTED, FRAMED, PUBLISHED, PUBLISHED_START, UNSUPPORTED, Vector

# The vectors lack user verification in places, so they are checked as those of a security key.
CREATION = Binding(Ceremony.SET_UP_SECURITY_KEY, "a" * 64)
REQUEST = Binding(Ceremony.SECOND_FACTOR, "a" * 64)
USER = UUID(int=1)
NOT_VALUES: list[Any] = [None, 1, [], {}, "", "=", "AA=="]


@pytest.fixture(autouse=True)
def _installation(settings):
    settings.BASE_URL = webauthn_vectors.ORIGIN
    settings.WEBAUTHN_RP_ID = webauthn_vectors.RP_ID
    with tenancy.using(tenancy.DEFAULT):
        yield


@contextmanager
def asked(challenge):
    """The challenges of the vectors are not ours, so for the block the only good one is theirs."""

    def check(sent, *bindings):
        if sent != challenge:
            raise PasskeyRefused(Reason.CHALLENGE)
        return AcceptedChallenge("", datetime.now(UTC))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(challenges, "check", check)
        yield


def register(vector: Vector, document):
    with asked(vector.creation["challenge"]):
        return ceremonies.verify_registration(credential_json.read_registration(document), CREATION)


def prove(vector: Vector, document, stored):
    with asked(vector.request["challenge"]):
        return ceremonies.verify_assertion(credential_json.read_assertion(document), stored, [REQUEST])


def stored_passkey(vector: Vector):
    new = register(vector, vector.registration())
    return StoredPasskey(new.credential_id, new.public_key, new.sign_count, new.backup_eligible, USER.bytes)


def names(vectors):
    return {"argvalues": vectors, "ids": [vector.name for vector in vectors]}


@pytest.mark.parametrize("vector", **names(ACCEPTED + FRAMED))
def test_decision_M59_the_vectors_are_those_of_the_standard(vector):
    signature = vector.request["signature"].hex()

    if vector.name == "none.ES256.long-credential-id":
        assert vector.credential_id.hex().startswith("3a761a4e1674ad6c4305869435c0eee9c286172c")
    elif vector.name in PUBLISHED_START:
        assert signature.startswith(PUBLISHED_START[vector.name])
    else:
        assert signature == PUBLISHED[vector.name]


@pytest.mark.parametrize("vector", **names(ACCEPTED))
def test_decision_M59_a_vector_passes(vector):
    new = register(vector, vector.registration())
    proven = prove(vector, vector.assertion(), stored_passkey(vector))

    assert new.credential_id == encode(vector.credential_id)
    assert new.attestation == vector.name.partition(".")[0]
    assert proven.sign_count == 0


@pytest.mark.parametrize("vector", **names(FRAMED))
def test_case_MT21_a_ceremony_in_a_frame_is_refused(vector):
    with pytest.raises(PasskeyRefused) as refused:
        register(vector, vector.registration())

    assert refused.value.check is Reason.CROSS_ORIGIN


@pytest.mark.parametrize("vector", **names(UNSUPPORTED))
def test_case_MT22_an_algorithm_that_was_not_asked_for_is_refused(vector):
    with pytest.raises(PasskeyRefused) as refused:
        register(vector, vector.registration())

    assert refused.value.check is Reason.ALGORITHM


@pytest.mark.parametrize("vector", **names(ACCEPTED))
@pytest.mark.parametrize("name", ["clientDataJSON", "authenticatorData", "signature"])
def test_decision_M59_no_bit_of_an_assertion_can_be_changed(vector, name):
    stored = stored_passkey(vector)
    data = vector.request[name]
    for at in range(len(data)):
        document = copy.deepcopy(vector.assertion())
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        document["response"][name] = encode(bytes(changed))

        with pytest.raises(PasskeyRefused):
            prove(vector, document, stored)


@pytest.mark.parametrize("vector", **names(ACCEPTED))
def test_decision_M59_no_member_can_be_left_out_or_have_another_type(vector):
    for build, check in (
        (vector.registration, lambda document: register(vector, document)),
        (vector.assertion, lambda document: prove(vector, document, stored_passkey(vector))),
    ):
        for name in ("id", "rawId", "type", "response"):
            for value in NOT_VALUES:
                with pytest.raises(PasskeyRefused):
                    check(build() | {name: value})
        for name in build()["response"]:
            for value in NOT_VALUES:
                document = build()
                document["response"][name] = value
                with pytest.raises(PasskeyRefused):
                    check(document)


def _flip(document, at):
    raw = bytearray(decode(document["response"]["attestationObject"]))
    start = raw.index(data_of(bytes(raw)))
    raw[start + at] ^= 0x20
    document["response"]["attestationObject"] = encode(bytes(raw))
    return document


@pytest.mark.parametrize("vector", **names(ACCEPTED[:3]))
@pytest.mark.parametrize(
    ("at", "reason"),
    [(0, "rp_id"), (31, "rp_id"), (32, "reserved_flags"), (54, None), (55, "credential_id")],
)
def test_decision_M59_a_changed_fact_of_a_registration_has_its_own_reason(vector, at, reason):
    with pytest.raises(PasskeyRefused) as refused:
        register(vector, _flip(vector.registration(), at))

    assert reason is None or refused.value.check == reason


@pytest.mark.parametrize("vector", **names(ACCEPTED))
def test_decision_M59_another_key_verifies_nothing(vector):
    other = next(one for one in ACCEPTED if one.name != vector.name)
    stored = replace(stored_passkey(vector), public_key=stored_passkey(other).public_key)

    with pytest.raises(PasskeyRefused) as refused:
        prove(vector, vector.assertion(), stored)

    assert refused.value.check is Reason.SIGNATURE
