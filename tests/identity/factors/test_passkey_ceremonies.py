"""The ceremonies of WebAuthn, with a device in software: what passes, and every reason to refuse."""

import json
from typing import Any
from uuid import uuid4

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric import rsa
from fido2 import cbor
from fido2.cose import ES256K

from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from identity.factors import ceremonies, ceremony_options, challenges, credential_json
from identity.factors.ceremonies import StoredPasskey
from identity.factors.ceremony_options import Account, Descriptor
from identity.factors.challenges import Binding, Ceremony
from identity.factors.passkey_refusals import PasskeyRefused
from tests.support import passkey_device
from tests.support.passkey_device import AT, BE, BS, KEYS, UP, UV, Device

ORIGIN = "https://id.example.com"
ALGORITHMS = (-8, -7, -257)


@pytest.fixture(autouse=True)
def _installation(settings):
    settings.BASE_URL = ORIGIN
    settings.WEBAUTHN_RP_ID = "id.example.com"
    with tenancy.using(tenancy.DEFAULT):
        yield


class Party:
    """The relying party's half: it asks, and judges the answer."""

    def __init__(self):
        self.user = uuid4()
        self.browser = "a" * 64
        self.stored: Any = None

    def binding(self, ceremony, **changed):
        facts = {"browser": self.browser, "user": "", "session": ""} | changed
        return Binding(ceremony, **facts)

    def creation(self, ceremony=Ceremony.SET_UP, **changed):
        account = Account(self.user.bytes, "ada@example.com", "Ada")
        return ceremony_options.creation_options(self.binding(ceremony, **changed), account, "Acme", ())

    def request(self, ceremony=Ceremony.SIGN_IN, allowed=(), **changed):
        return ceremony_options.request_options(self.binding(ceremony, **changed), map(Descriptor, allowed))

    def registered(self, document, ceremony=Ceremony.SET_UP, **changed):
        answer = credential_json.read_registration(json.loads(json.dumps(document)))
        new = ceremonies.verify_registration(answer, self.binding(ceremony, **changed))
        self.stored = StoredPasskey(
            new.credential_id, new.public_key, new.sign_count, new.backup_eligible, self.user.bytes
        )
        return new

    def proven(self, document, ceremony=Ceremony.SIGN_IN, **changed):
        answer = credential_json.read_assertion(json.loads(json.dumps(document)))
        return ceremonies.verify_assertion(answer, self.stored, [self.binding(ceremony, **changed)])


@pytest.fixture
def party():
    return Party()


@pytest.fixture
def device():
    return Device(ORIGIN)


def refusal(call, *arguments, **options):
    with pytest.raises(PasskeyRefused) as refused:
        call(*arguments, **options)
    assert refused.value.status == 401
    assert refused.value.reason == "passkey_refused"
    assert refused.value.result == {"reason": "passkey_refused"}
    assert str(refused.value) == "the passkey was not accepted"
    return refused.value.audit_facts["check"]


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


# MT20: a host that ends with ours or contains it, one below and one above, another port and plain http.
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


ASSERTIONS: dict[str, dict[str, Any]] = {
    "type": {"type": "webauthn.create"},
    "challenge": {"challenge": passkey_device.encode(bytes(64))},
    "origin": {"origin": "https://evil.example"},
    "cross_origin": {"cross_origin": True},
    "rp_id": {"rp_id": "evil.example"},
    "user_presence": {"flags": UV | BE | BS},
    "user_verification": {"flags": UP | BE | BS},
    "reserved_flags": {"flags": UP | UV | BE | BS | 0x20},
    "credential_id": {"raw_id": b"another"},
    "signature": {"signature": b"\x30\x06\x02\x01\x01\x02\x01\x01"},
    "user_handle": {"user_handle": uuid4().bytes},
}


class TestAssertion:
    @pytest.fixture(autouse=True)
    def _registered(self, party, device):
        party.registered(device.create(party.creation()))

    @pytest.mark.parametrize("wrong", ASSERTIONS)
    def test_decision_M24_each_check_of_an_assertion_has_its_own_reason(self, party, device, wrong):
        assert refusal(party.proven, device.get(party.request(), **ASSERTIONS[wrong])) == wrong

    def test_case_MT26_a_backed_up_key_must_be_eligible(self, party, device):
        not_eligible = device.get(party.request(), flags=UP | UV | BS)
        changed = device.get(party.request(), flags=UP | UV)

        assert refusal(party.proven, not_eligible) == "backup_flags"
        assert refusal(party.proven, changed) == "backup_flags"

    def test_case_MT15_the_user_handle_is_required_at_sign_in(self, party, device):
        document = device.get(party.request(), user_handle=None)

        assert refusal(party.proven, document) == "user_handle"

    def test_case_MT15_as_second_factor_a_user_handle_is_optional_but_must_be_right(self, party, device):
        second = Ceremony.SECOND_FACTOR
        none = device.get(party.request(second), user_handle=None)
        other = device.get(party.request(second), user_handle=uuid4().bytes)

        assert party.proven(none, second)
        assert refusal(party.proven, other, second) == "user_handle"

    def test_case_MT15_a_challenge_for_one_user_takes_no_passkey_of_another_one(self, party, device):
        somebody = party.request(user=str(uuid4()))

        assert refusal(party.proven, device.get(somebody), user=str(party.user)) == "challenge"

    def test_case_MT16_a_passkey_signs_in_only_with_user_verification(self, party, device):
        device.verifies = False

        assert refusal(party.proven, device.get(party.request())) == "user_verification"
        assert not party.proven(
            device.get(party.request(Ceremony.SECOND_FACTOR)), Ceremony.SECOND_FACTOR
        ).user_verified

    def test_case_MT18_a_registration_is_no_assertion_and_the_reverse(self, party, device):
        created = device.create(party.creation())
        asserted = device.get(party.request())
        mixed = created | {"response": created["response"] | asserted["response"]}

        assert refusal(party.proven, created) == "json"
        assert refusal(party.registered, asserted) == "json"
        assert refusal(party.registered, mixed) == "type"

    def test_case_MT18_an_assertion_must_not_contain_a_credential(self, party, device):
        attested = bytes(16) + b"\0\1x" + cbor.encode(device.keys[0].cose())

        document = device.get(party.request(), flags=UP | UV | BE | BS | AT, trailing=attested)

        assert refusal(party.proven, document) == "malformed"

    def test_case_MT19_a_challenge_is_good_for_one_ceremony_browser_user_session_and_tenant(
        self, party, device
    ):
        document = device.get(party.request(user="u", session="s"))

        assert party.proven(document, user="u", session="s")
        for changed in (
            {"user": "", "session": "s"},
            {"user": "v", "session": "s"},
            {"user": "u", "session": ""},
            {"user": "u", "session": "s", "browser": "b" * 64},
            {"user": "u", "session": "s", "ceremony": Ceremony.CONFIRM},
        ):
            assert refusal(party.proven, document, **changed) == "challenge"
        with tenancy.using(ActiveTenant("other", "other")):
            assert refusal(party.proven, document, user="u", session="s") == "challenge"

    def test_case_MT19_a_challenge_is_the_same_once_accepted(self, party, device):
        document = device.get(party.request())

        assert party.proven(document).challenge == party.proven(document).challenge

    def test_decision_M26_a_challenge_expires_after_ten_minutes(self, party, device):
        with time_machine.travel("2026-11-01T12:00:00Z", tick=False):
            document = device.get(party.request())
        with time_machine.travel("2026-11-01T12:10:00Z", tick=False):
            accepted = party.proven(document).challenge
        with time_machine.travel("2026-11-01T12:10:01Z", tick=False):
            assert refusal(party.proven, document) == "challenge_expired"
        with time_machine.travel("2026-11-01T11:58:00Z", tick=False):
            assert refusal(party.proven, document) == "challenge_expired"

        assert accepted.expires_at.isoformat() == "2026-11-01T12:12:00+00:00"

    @pytest.mark.parametrize("at", [0, 15, 16, 23, 24, 31, 32, 63])
    def test_decision_M26_no_byte_of_a_challenge_can_be_changed(self, at):
        binding = Binding(Ceremony.SIGN_IN, "a" * 64)
        challenge = bytearray(challenges.new_challenge(binding))
        challenge[at] ^= 1

        with pytest.raises(PasskeyRefused):
            challenges.check(bytes(challenge), binding)

    def test_decision_M26_a_challenge_of_a_removed_encryption_key_is_refused(self, party, device, settings):
        document = device.get(party.request())
        settings.ENCRYPTION_KEYS = {"00000000": bytes(32)}

        assert refusal(party.proven, document) == "challenge"


class TestCounters:
    def device_bound(self, party, step):
        device = Device(ORIGIN, flags=0, step=step)
        party.registered(device.create(party.creation()))
        return device

    def remember(self, party, proven):
        party.stored = StoredPasskey(
            party.stored.credential_id,
            party.stored.public_key,
            proven.sign_count,
            party.stored.backup_eligible,
            party.stored.user_handle,
        )

    def test_decision_M28_a_counter_that_is_always_zero_is_fine(self, party):
        device = self.device_bound(party, 0)

        for _ in range(2):
            self.remember(party, party.proven(device.get(party.request())))

    def test_decision_M28_a_counter_that_grows_is_fine(self, party):
        device = self.device_bound(party, 3)

        for expected in (3, 6):
            proven = party.proven(device.get(party.request()))
            self.remember(party, proven)
            assert proven.sign_count == expected

    @pytest.mark.parametrize("counter", [0, 4, 5])
    def test_case_MT25_a_device_bound_key_whose_counter_does_not_grow_is_refused(self, party, counter):
        device = self.device_bound(party, 5)
        self.remember(party, party.proven(device.get(party.request())))

        assert refusal(party.proven, device.get(party.request(), counter=counter)) == "counter"

    @pytest.mark.parametrize("counter", [0, 4, 5, 9])
    def test_decision_M28_a_synced_key_is_never_judged_by_its_counter(self, party, counter):
        device = Device(ORIGIN, step=5)
        party.registered(device.create(party.creation()))
        self.remember(party, party.proven(device.get(party.request())))

        assert party.proven(device.get(party.request(), counter=counter)).sign_count == counter
