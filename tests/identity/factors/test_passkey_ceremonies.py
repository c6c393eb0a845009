"""Ceremonies of WebAuthn, with a device in software: what passes, and what registrations are refused for."""

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from fido2.cose import ES256K

from identity.core import tenancy
from identity.factors.challenges import Ceremony
from tests.support import passkey_device
from tests.support.passkey_device import AT, BE, BS, KEYS, UP, UV, Device
from tests.support.passkey_party import ORIGIN, Party, refusal

ALGORITHMS = (-8, -7, -257)


@pytest.fixture(autouse=True)
def _installation(settings):
    settings.BASE_URL = ORIGIN
    settings.WEBAUTHN_RP_ID = "id.example.com"
    with tenancy.using(tenancy.DEFAULT):
        yield


@pytest.fixture
def party():
    return Party()


@pytest.fixture
def device():
    return Device(ORIGIN)


class TestWhatPasses:
    @pytest.mark.parametrize("algorithm", ALGORITHMS)
    def test_decision_M24_M60_a_passkey_is_created_and_signs_in(self, party, algorithm):
        device = Device(ORIGIN, algorithm=algorithm)

        new = party.registered(device.create(party.creation()))
        proven = party.proven(device.get(party.request()))

        assert (new.algorithm, new.rp_id, new.attestation) == (algorithm, "id.example.com", "none")
        assert (new.verifies_user, new.backup_eligible, new.backed_up) == (True, True, True)
        assert (new.is_discoverable, new.aaguid, new.transports) == (True, None, ("hybrid", "internal"))
        assert (proven.user_verified, proven.backed_up, proven.sign_count) == (True, True, 0)
        assert proven.challenge.hash != new.challenge.hash

    def test_decision_M25_a_security_key_needs_no_user_verification_as_second_factor(self, party):
        device = Device(ORIGIN, verifies=False, flags=0)
        ceremony = Ceremony.SET_UP_SECURITY_KEY

        new = party.registered(device.create(party.creation(ceremony)), ceremony)
        asked = party.request(Ceremony.SECOND_FACTOR, [new.credential_id])
        proven = party.proven(device.get(asked), Ceremony.SECOND_FACTOR)

        assert not new.verifies_user
        assert not proven.user_verified

    @pytest.mark.parametrize(
        "changed",
        [
            {"transports": ["telepathy", 7, "x" * 99, "usb"]},
            {"transports": None},
            {"attestation": {"fmt": "somebody's own", "attStmt": {"x5c": [b"\0" * 900]}}},
            {"attestation": {"fmt": "compound", "attStmt": [{"fmt": "none", "attStmt": {}}]}},
            {"client_data": {"futureMember": {"of": ["the", "standard"]}}},
        ],
        ids=["transports", "no transports", "format", "compound", "client data"],
    )
    def test_decision_M27_unknown_facts_are_taken(self, party, device, changed):
        document = device.create(party.creation(), **changed)
        document["clientExtensionResults"] = {"somebody": "else's"}

        new = party.registered(document)

        assert new.is_discoverable is None
        assert new.transports in {("telepathy", "usb"), (), ("hybrid", "internal")}

    def test_decision_M27_any_model_is_taken(self, party):
        device = Device(ORIGIN, aaguid=bytes(range(16)))

        assert party.registered(device.create(party.creation())).aaguid.bytes == bytes(range(16))

    @pytest.mark.parametrize("length", [1, 16, 64, 1_023])
    def test_decision_M24_a_credential_id_has_up_to_1023_bytes(self, party, length):
        device = Device(ORIGIN, id_length=length)

        party.registered(device.create(party.creation()))

        assert party.proven(device.get(party.request()))


REGISTRATIONS: dict[str, dict[str, Any]] = {
    "type": {"type": "webauthn.get"},
    "credential_type": {"credential_type": "password"},
    "challenge": {"challenge": "AAAA"},
    "other_challenge": {"challenge": passkey_device.encode(bytes(64))},
    "host": {"origin": "https://id.example.com.evil"},
    "sub_domain": {"origin": "https://x.id.example.com"},
    "parent": {"origin": "https://example.com"},
    "port": {"origin": "https://id.example.com:8443"},
    "scheme": {"origin": "http://id.example.com"},
    "slash": {"origin": "https://id.example.com/"},
    "null": {"origin": "null"},
    "iframe": {"cross_origin": True},
    "top_origin": {"client_data": {"topOrigin": "https://id.example.com"}},
    "rp_id": {"rp_id": "example.com"},
    "absent_user": {"flags": UV | BE | BS | AT},
    "unverified_user": {"flags": UP | BE | BS | AT},
    "backup": {"flags": UP | UV | BS | AT},
    "reserved_1": {"flags": UP | UV | AT | 0x02},
    "reserved_2": {"flags": UP | UV | AT | 0x20},
    "id": {"id": b"another"},
    "raw_id": {"raw_id": b"another"},
    "long_id": {"credential_id": bytes(1_024)},
    "huge_id": {"credential_id": bytes(1_400)},
    "empty_id": {"credential_id": b""},
}
EXPECTED = {
    "credential_type": "type",
    "other_challenge": "challenge",
    "host": "origin",
    "sub_domain": "origin",
    "parent": "origin",
    "port": "origin",
    "scheme": "origin",
    "slash": "origin",
    "null": "origin",
    "iframe": "cross_origin",
    "top_origin": "cross_origin",
    "absent_user": "user_presence",
    "unverified_user": "user_verification",
    "backup": "backup_flags",
    "reserved_1": "reserved_flags",
    "reserved_2": "reserved_flags",
    "id": "credential_id",
    "raw_id": "credential_id",
    "long_id": "credential_length",
    "huge_id": "credential_length",
    "empty_id": "json",
}


# MT20: a host that begins with ours, one below and one above it, another port, plain HTTP, a path, and none.
ORIGINS = ("host", "sub_domain", "parent", "port", "scheme", "slash", "null")


class TestOrigins:
    @pytest.mark.parametrize("wrong", ORIGINS)
    def test_case_MT20_a_registration_of_another_origin_is_refused(self, party, device, wrong):
        document = device.create(party.creation(), **REGISTRATIONS[wrong])

        assert refusal(party.registered, document) == "origin"
        assert party.stored is None

    @pytest.mark.parametrize("wrong", ORIGINS)
    def test_case_MT20_an_assertion_for_another_origin_is_refused(self, party, device, wrong):
        party.registered(device.create(party.creation()))

        document = device.get(party.request(), **REGISTRATIONS[wrong])

        assert refusal(party.proven, document) == "origin"


class TestRegistration:
    @pytest.mark.parametrize("wrong", REGISTRATIONS)
    def test_decision_M24_each_check_of_a_registration_has_its_own_reason(self, party, device, wrong):
        document = device.create(party.creation(), **REGISTRATIONS[wrong])

        assert refusal(party.registered, document) == EXPECTED.get(wrong, wrong)

    @pytest.mark.parametrize("bits", [1_024, 2_047])
    def test_case_MT22_a_short_rsa_key_is_refused(self, party, device, bits):
        short = rsa.generate_private_key(65537, bits)

        document = device.create(party.creation(), algorithm=-257, private=short)

        assert refusal(party.registered, document) == "key"

    def test_case_MT22_other_algorithms_are_refused(self, party, device):
        other = device.create(party.creation(), algorithm=-47)
        sha1 = device.create(party.creation(), cose={1: 3, 3: -65535, -1: b"\xff" * 256, -2: b"\1\0\1"})
        unnamed = device.create(party.creation(), cose={1: 2, -1: 1, -2: bytes(32), -3: bytes(32)})
        text = device.create(party.creation(), cose={1: 2, 3: "ES256", -1: 1})

        for document in (other, sha1, unnamed, text):
            assert refusal(party.registered, document) == "algorithm"

    def test_case_MT22_a_key_that_claims_another_algorithm_is_refused(self, party, device):
        curve = dict(ES256K.from_cryptography_key(KEYS[-47]().public_key())) | {3: -7}
        point = device.create(party.creation()) and device.keys[-1].cose()
        keys = [
            curve,
            {1: 2, 3: -7, -1: 1, -2: bytes(32), -3: bytes(32)},  # not on the curve
            point | {-3: bytes(32)},
            point | {-2: point[-2] + b"\0"},
            point | {-2: 5},
            point | {1: 3},
            point | {3: -8},
            point | {3: -257},
            {1: 1, 3: -8, -1: 6, -2: b"\1" + bytes(31)},  # the neutral element
            {1: 1, 3: -8, -1: 6, -2: b"\2" + bytes(31)},  # no point has this y
            {1: 1, 3: -8, -1: 7, -2: bytes(57)},  # Ed448
            {1: 3, 3: -257, -1: b"\xff" * 256, -2: b"\1"},
            {1: 3, 3: -257, -1: b"\xff" * 256, -2: b"\2"},
            {1: 3, 3: -257, -1: b"\xfe" * 256, -2: b"\1\0\1"},  # even
            {1: 3, 3: -257, -1: b"\xff" * 2_000, -2: b"\1\0\1"},  # slow
        ]

        checks = [refusal(party.registered, device.create(party.creation(), cose=key)) for key in keys]

        assert checks == ["key"] * len(keys)

    def test_decision_M25_a_security_key_cannot_answer_for_a_passkey(self, party):
        device = Device(ORIGIN, verifies=False)
        document = device.create(party.creation(Ceremony.SET_UP_SECURITY_KEY))

        assert refusal(party.registered, document, Ceremony.SET_UP) == "challenge"

    def test_an_answer_without_a_credential_is_refused(self, party, device):
        document = device.create(party.creation(), flags=UP | UV)

        assert refusal(party.registered, document) == "malformed"
