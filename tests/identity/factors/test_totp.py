"""The arithmetic of TOTP, with the values that RFC 4226 and RFC 6238 print."""

import base64
from urllib.parse import parse_qs, urlsplit

import pytest

from identity.factors import totp
from management.administrators import second_step

SECRET = b"12345678901234567890"
# RFC 6238, appendix B, for SHA-1. The codes there have eight digits, ours are the last six of them.
TIMES = {
    59: "94287082",
    1111111109: "07081804",
    1111111111: "14050471",
    1234567890: "89005924",
    2000000000: "69279037",
    20000000000: "65353130",
}
# RFC 4226, appendix D: the codes of the counters 0 to 9.
_FIRST = ["755224", "287082", "359152", "969429", "338314"]
COUNTERS = [*_FIRST, "254676", "287922", "162583", "399871", "520489"]


def find(code, now, after=-1):
    return totp.find_step(SECRET, code, after=after, now=now)


@pytest.mark.parametrize(("now", "code"), list(TIMES.items()))
def test_the_values_of_rfc_6238_are_right(now, code):
    assert find(code[-6:], now) == now // 30


@pytest.mark.parametrize(("counter", "code"), list(enumerate(COUNTERS)))
def test_the_values_of_rfc_4226_are_right(counter, code):
    assert find(code, counter * 30) == counter
    assert find(code[:-1] + str((int(code[-1]) + 1) % 10), counter * 30) is None


def test_one_step_before_and_after_is_accepted_and_not_two():
    found = [find(COUNTERS[5], step * 30) for step in range(3, 8)]

    assert found == [None, 5, 5, 5, None]


def test_a_step_that_was_used_is_not_found_again():
    assert find(COUNTERS[5], 150, after=4) == 5
    assert find(COUNTERS[5], 150, after=5) is None


def test_decision_M2_administrators_use_the_same_arithmetic():
    assert vars(second_step)["totp"] is totp


def test_secrets_have_160_random_bits():
    secrets = {totp.new_secret() for _ in range(100)}

    assert len(secrets) == 100
    assert {len(secret) for secret in secrets} == {20}


def test_the_address_for_apps_has_the_secret_and_the_parameters():
    address = urlsplit(totp.provisioning_uri(SECRET, account="ada", issuer="Acme"))

    assert (address.scheme, address.netloc) == ("otpauth", "totp")
    assert parse_qs(address.query) == {
        "secret": [base64.b32encode(SECRET).decode()],
        "issuer": ["Acme"],
        "algorithm": ["SHA1"],
        "digits": ["6"],
        "period": ["30"],
    }
