"""What browsers are asked for."""

from uuid import UUID

import pytest

from identity.core import tenancy
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
