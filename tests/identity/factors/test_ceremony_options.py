"""What browsers are asked for, and what the answer tells about accounts."""

from uuid import UUID, uuid4

import pytest

from identity.core import tenancy
from identity.core.tenancy import ActiveTenant
from identity.factors import ceremony_options
from identity.factors.ceremony_options import Account, Descriptor
from identity.factors.challenges import Binding, Ceremony
from tests.support.passkey_device import decode, encode

USER = UUID("01980000-0000-7000-8000-000000000001")


@pytest.fixture(autouse=True)
def _installation(settings):
    settings.BASE_URL = "https://id.example.com"
    settings.WEBAUTHN_RP_ID = "example.com"
    with tenancy.using(tenancy.DEFAULT):
        yield


def creation(ceremony, own=()):
    account = Account(USER.bytes, "ada@example.com", "Ada Lovelace")
    return ceremony_options.creation_options(Binding(ceremony, "b"), account, "Acme", own)


def allowed(identifier, own=()):
    return [one.as_json() for one in ceremony_options.allowed_for(identifier, own)]


class TestCreation:
    def test_decision_M23_the_user_handle_is_the_id_and_the_names_tell_tenants_apart(self):
        options = creation(Ceremony.SET_UP)

        assert options["rp"] == {"id": "example.com", "name": "Acme"}
        assert options["user"] == {
            "id": encode(USER.bytes),
            "name": "ada@example.com · Acme",
            "displayName": "Ada Lovelace",
        }
        assert len(decode(options["user"]["id"])) == 16

    def test_decision_M25_a_passkey_is_discoverable_and_verifies_the_user(self):
        options = creation(Ceremony.SET_UP)

        assert options["authenticatorSelection"] == {
            "residentKey": "required",
            "requireResidentKey": True,
            "userVerification": "required",
        }
        assert [one["alg"] for one in options["pubKeyCredParams"]] == [-8, -7, -257]
        assert options["attestation"] == "none"
        assert options["extensions"] == {"credProps": True}

    def test_decision_M30_no_attestation_is_asked_for(self):
        ceremonies = (Ceremony.SET_UP, Ceremony.SET_UP_SECURITY_KEY)

        assert {creation(ceremony)["attestation"] for ceremony in ceremonies} == {"none"}

    def test_decision_M25_a_security_key_is_neither(self):
        options = creation(Ceremony.SET_UP_SECURITY_KEY)

        assert options["authenticatorSelection"] == {
            "residentKey": "discouraged",
            "requireResidentKey": False,
            "userVerification": "preferred",
        }
        assert options["hints"] == ["security-key"]

    def test_decision_M25_own_credentials_are_not_created_again(self):
        options = creation(Ceremony.SET_UP, [Descriptor("AAAA", ["usb"]), Descriptor("BBBB")])

        assert options["excludeCredentials"] == [
            {"type": "public-key", "id": "AAAA", "transports": ["usb"]},
            {"type": "public-key", "id": "BBBB"},
        ]


class TestRequest:
    def test_decision_M20_a_sign_in_requires_user_verification(self):
        asked = {
            ceremony: ceremony_options.request_options(Binding(ceremony, "b"), ())["userVerification"]
            for ceremony in (Ceremony.SIGN_IN, Ceremony.SECOND_FACTOR, Ceremony.CONFIRM)
        }

        assert asked == {"sign_in": "required", "second_factor": "preferred", "confirm": "preferred"}

    def test_decision_M26_no_two_challenges_are_equal(self):
        requests = [ceremony_options.request_options(Binding(Ceremony.SIGN_IN, "b"), ()) for _ in range(20)]

        assert len({request["challenge"] for request in requests}) == 20
        assert requests[0]["rpId"] == "example.com"
        assert requests[0]["allowCredentials"] == []


class TestAllowedCredentials:
    def test_case_MT14_an_unknown_identifier_gets_two_credentials_that_stay_the_same(self):
        first = allowed("nobody@example.com")

        assert first == allowed("nobody@example.com")
        assert len(first) == 2
        assert first != allowed("somebody@example.com")
        assert len({len(one["id"]) for one in first}) == 1
        assert all(one.keys() == {"type", "id"} for one in first)

    def test_case_MT14_the_credentials_of_another_tenant_differ(self):
        here = allowed("nobody@example.com")
        with tenancy.using(ActiveTenant("other", "other")):
            there = allowed("nobody@example.com")

        assert not {one["id"] for one in here} & {one["id"] for one in there}

    @pytest.mark.parametrize("length", [16, 20, 32, 48, 64])
    def test_case_MT14_a_single_passkey_gets_a_companion_of_its_length(self, length):
        own = encode(bytes(range(length)))

        answers = [allowed("ada@example.com", [own]) for _ in range(2)]

        assert answers[0] == answers[1]
        assert len(answers[0]) == 2
        assert {len(decode(one["id"])) for one in answers[0]} == {length}
        assert own in {one["id"] for one in answers[0]}

    def test_case_MT14_the_place_of_the_passkey_tells_nothing(self):
        places = {
            [one["id"] for one in allowed(str(uuid4()), [own])].index(own)
            for own in (encode(uuid4().bytes) for _ in range(40))
        }

        assert places == {0, 1}

    def test_all_passkeys_are_named(self):
        own = [encode(bytes([number]) * 16) for number in range(5)]

        assert {one["id"] for one in allowed("ada@example.com", own)} == set(own)

    def test_case_MT14_lengths_are_those_of_real_credentials(self):
        lengths = {len(decode(allowed(f"{number}@example.com")[0]["id"])) for number in range(80)}

        assert lengths == {16, 20, 32, 48, 64}

    def test_case_MT14_a_new_encryption_key_changes_nothing(self, settings):
        before = allowed("nobody@example.com")
        settings.ENCRYPTION_KEYS = {"11111111": bytes(32)} | settings.ENCRYPTION_KEYS

        assert allowed("nobody@example.com") == before
