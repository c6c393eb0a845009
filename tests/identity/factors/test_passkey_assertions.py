"""Assertions of passkeys, with a device in software: every reason to refuse, and the counter."""

from typing import Any
from uuid import uuid4

import pytest
import time_machine
from fido2 import cbor

from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from identity.factors import challenges
from identity.factors.ceremonies import StoredPasskey
from identity.factors.challenges import Binding, Ceremony
from identity.factors.passkey_refusals import PasskeyRefused
from tests.support import passkey_device
from tests.support.passkey_device import AT, BE, BS, UP, UV, Device
from tests.support.passkey_party import ORIGIN, Party, refusal


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
