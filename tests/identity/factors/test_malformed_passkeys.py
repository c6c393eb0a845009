"""What an attacker may send instead of a credential: huge, deep, ambiguous or incomplete bytes."""

import json
import time

import pytest
from fido2 import cbor

from identity.core import tenancy
from identity.factors import credential_json, strict_cbor, webauthn
from identity.factors.passkey_refusals import PasskeyRefused, Reason
from tests.support.passkey_device import UP, UV, Device, data_of, encode
from tests.support.webauthn_vectors import ACCEPTED

ATTESTATION = ACCEPTED[0].creation["attestationObject"]
AUTH_DATA = data_of(ATTESTATION)


@pytest.fixture(autouse=True)
def _tenant():
    with tenancy.using(tenancy.DEFAULT):
        yield


def reason(call, *arguments):
    with pytest.raises(PasskeyRefused) as refused:
        call(*arguments)
    return refused.value.check


def with_auth_data(data):
    return cbor.encode({"fmt": "none", "attStmt": {}, "authData": data})


class TestCbor:
    @pytest.mark.parametrize(
        "data",
        [
            b"",
            b"\x18",  # a number without its byte
            b"\x19\x00",
            b"\x42a",  # a string that ends too early
            b"\x62a",
            b"\x61\xff",  # a text that is not UTF-8
            b"\x82\x01",
            b"\xa1\x01",
            b"\x01\x01",  # two items
            b"\x9f\xff",  # of indefinite length
            b"\x5f\x41a\xff",
            b"\xc0\x01",  # a tag
            b"\xf9\x3c\x00",  # a float
            b"\xf7",  # undefined
            b"\xf8\x20",
            b"\x1c",  # reserved
            b"\xa2\x01\x01\x01\x02",  # a repeated key
            b"\xa2\x01\x01\x18\x01\x02",  # the same number, spelled in two ways
            b"\xa2\x61a\x01\x61a\x02",
            b"\xa1\x41a\x01",  # a key of bytes
            b"\xa1\xf5\x01",
            b"\x9b" + b"\xff" * 8,
            b"\xbb" + b"\xff" * 8,
            b"\x5b" + b"\xff" * 8,
            b"\x81" * 9 + b"\x01",
            b"\x81" * 60_000 + b"\x01",
            b"\x99\x03\xe8" + b"\x01" * 1_000,
        ],
    )
    def test_case_MT23_cbor_that_no_authenticator_sends_is_refused(self, data):
        with pytest.raises(strict_cbor.NotStrict):
            strict_cbor.check(data)

    @pytest.mark.parametrize(
        "value",
        [0, 23, 24, 2**16, 2**40, -1, -(2**40), b"", b"\0" * 300, "é", [], [1, [2, {"a": True}]], {1: False}],
    )
    def test_cbor_of_authenticators_is_taken(self, value):
        strict_cbor.check(cbor.encode(value))

    @pytest.mark.parametrize("depth", [8, 9])
    def test_case_MT23_the_depth_is_limited(self, depth):
        data = b"\x81" * depth + b"\x01"
        if depth > strict_cbor.MAX_DEPTH:
            with pytest.raises(strict_cbor.NotStrict):
                strict_cbor.check(data)
        else:
            strict_cbor.check(data)

    def test_case_MT23_the_largest_input_is_judged_at_once(self):
        many = b"\x9a\x00\x00\xff\xff" + b"\x01" * 65_000

        begun = time.perf_counter()
        with pytest.raises(strict_cbor.NotStrict):
            strict_cbor.check(many)

        assert time.perf_counter() - begun < 0.5


class TestAttestations:
    @pytest.mark.parametrize(
        "data",
        [
            ATTESTATION + b"\0",
            ATTESTATION[:-1],
            b"\xa4" + ATTESTATION[1:] + cbor.encode("fmt") + cbor.encode("packed"),
            cbor.encode([1]),
            cbor.encode({"fmt": "none", "authData": AUTH_DATA}),
            cbor.encode({"fmt": 1, "attStmt": {}, "authData": AUTH_DATA}),
            cbor.encode({"fmt": "none", "attStmt": {}, "authData": "text"}),
        ],
    )
    def test_case_MT23_a_broken_attestation_object_is_refused(self, data):
        assert reason(webauthn.read_attestation_object, data) is Reason.MALFORMED

    @pytest.mark.parametrize(
        "data",
        [
            b"",
            AUTH_DATA[:36],
            AUTH_DATA[:37],  # the flags announce a credential
            AUTH_DATA[:54],
            AUTH_DATA[:60],
            AUTH_DATA[:-1],
            AUTH_DATA + b"\0",
            AUTH_DATA[:53] + b"\xff\xff" + AUTH_DATA[55:],
            AUTH_DATA[:32] + bytes([AUTH_DATA[32] | 0x80]) + AUTH_DATA[33:],  # without extensions
            AUTH_DATA[:32] + bytes([AUTH_DATA[32] | 0x80]) + AUTH_DATA[33:] + b"\xa1\x61a",
        ],
    )
    def test_case_MT23_broken_authenticator_data_is_refused(self, data):
        assert reason(webauthn.read_authenticator_data, data) is Reason.MALFORMED

    def test_extensions_are_read_over(self):
        data = AUTH_DATA[:32] + bytes([AUTH_DATA[32] | 0x80]) + AUTH_DATA[33:]

        read = webauthn.read_authenticator_data(data + cbor.encode({"credProtect": 2}))

        assert read.credential == webauthn.read_authenticator_data(AUTH_DATA).credential

    @pytest.mark.parametrize("key", [b"\x01", b"\x80", b"\xa0\x00", b"\xa2\x03\x26\x03\x27"])
    def test_case_MT23_a_broken_public_key_is_refused(self, key):
        assert reason(webauthn.check_public_key, key) is Reason.MALFORMED


class TestJson:
    def document(self):
        return ACCEPTED[0].assertion()

    @pytest.mark.parametrize("document", [None, 1, "", "x", [], {}, {"response": []}])
    def test_something_else_than_a_credential_is_refused(self, document):
        assert reason(credential_json.read_assertion, document) is Reason.JSON
        assert reason(credential_json.read_registration, document) is Reason.JSON

    def test_case_MT23_more_than_64_kib_are_refused(self):
        assert reason(credential_json.read_assertion, self.document() | {"x": "y" * 65_536}) is Reason.SIZE

    @pytest.mark.parametrize(
        ("name", "most"), [("clientDataJSON", 8_192), ("authenticatorData", 8_192), ("signature", 2_048)]
    )
    def test_case_MT23_each_member_has_a_limit(self, name, most):
        document = self.document()
        document["response"][name] = encode(b"x" * (most + 1))

        assert reason(credential_json.read_assertion, document) is Reason.SIZE

    def test_case_MT23_deep_json_is_refused(self):
        deep = self.document() | {"x": json.loads("[" * 500 + "]" * 500)}
        client_data = self.document()
        client_data["response"]["clientDataJSON"] = encode(b"[" * 6_000)

        assert reason(credential_json.read_assertion, deep) is Reason.JSON
        assert reason(credential_json.read_assertion, client_data) is Reason.JSON

    @pytest.mark.parametrize(
        "client_data",
        [
            b"",
            b"[]",
            b"{}",
            b"\xff{}",
            b'{"type":"a","challenge":"","origin":""} x',
            b'{"type":"a","type":"webauthn.get","challenge":"","origin":""}',
            b'{"type":1,"challenge":"","origin":""}',
            b'{"type":"a","challenge":"","origin":null}',
            b'{"type":"a","challenge":"a=","origin":""}',
            b'{"type":"a","challenge":"","origin":"","crossOrigin":"false"}',
        ],
    )
    def test_case_MT23_ambiguous_client_data_is_refused(self, client_data):
        document = self.document()
        document["response"]["clientDataJSON"] = encode(client_data)

        assert reason(credential_json.read_assertion, document) is Reason.JSON

    @pytest.mark.parametrize("text", ["A", "AAAAA", "AB", "AA==", "A A", "A+A/", "é", "AAAB\n", "\ud800"])
    def test_base64url_has_one_spelling(self, text):
        assert reason(credential_json.decode, text) is Reason.JSON

    @pytest.mark.parametrize("data", [b"", b"a", b"ab", b"abc", bytes(range(256))])
    def test_base64url_decodes_what_it_encodes(self, data):
        assert credential_json.decode(credential_json.encode(data)) == data


def test_case_MT23_a_broken_attestation_in_a_good_credential_is_refused(settings):
    device = Device(settings.BASE_URL)
    options = {
        "rp": {"id": settings.WEBAUTHN_RP_ID},
        "user": {"id": encode(b"u")},
        "challenge": encode(b"c"),
        "pubKeyCredParams": [{"alg": -7}],
        "authenticatorSelection": {"residentKey": "required"},
    }
    document = device.create(options, attestation_object=with_auth_data(bytes(32) + bytes([UP | UV])))

    read = credential_json.read_registration(document)

    assert reason(webauthn.read_authenticator_data, data_of(read.attestation_object))
