"""Decision I9: password hashes of other systems are taken, verified, and replaced at the first sign-in."""

import base64

import bcrypt
import pytest

from identity.core.errors import Invalid
from identity.users import imported_hashes, passwords
from tests.support.foreign_hashes import FOREIGN, PASSWORD


@pytest.mark.parametrize("kind", FOREIGN)
def test_decision_I9_a_foreign_hash_verifies_and_is_renewed(kind):
    stored = imported_hashes.normalize(FOREIGN[kind], imported_hashes.IMPORT_BOUNDS)

    right, renewed = passwords.verify(PASSWORD, stored)
    wrong, _ = passwords.verify(PASSWORD + "!", stored)

    assert right is True
    if kind != "django argon2":
        assert renewed is not None
        assert renewed.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert wrong is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        "plain",
        "$argon2id$v=19$m=4194304,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg",
        "$2b$31$" + "a" * 53,
        "$pbkdf2-sha256$i=99999999$MDEyMw$MDEyMw",
        "pbkdf2_sha256$99999999$salt$MDEyMw==",
        "$scrypt$ln=30,r=8,p=1$MDEyMw$MDEyMw",
        "$scrypt$ln=15,r=8,p=20$MDEyMw$MDEyMDEyMzQ1Njc4OWFiY2RlZg",
        "$pbkdf2-sha1$i=4000000$MDEyMw$" + "MDEy" * 20,
        "$pbkdf2-md5$i=1000$MDEyMw$" + "MDEy" * 8,
        # What Django writes costs as much as what others write.
        "argon2$argon2id$v=19$m=4194304,t=2,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg",
        "argon2$argon2id$v=19$m=262144,t=99,p=1$MDEyMzQ1Njc4OWFiY2RlZg$MDEyMzQ1Njc4OWFiY2RlZg",
        "argon2$",
        "bcrypt$$2b$31$" + "a" * 53,
        "bcrypt_sha256$$2b$31$" + "a" * 53,
        "bcrypt_sha256$",
        "scrypt$1073741824$salt$8$1$MDEyMw==",
        "scrypt$16385$salt$8$1$MDEyMDEyMzQ1Njc4OWFiY2RlZg==",
        "pbkdf2_sha256$0$salt$MDEyMw==",
        "pbkdf2_bytes$sha256$99999999$MDEyMw==$MDEyMw==",
        "firebase_scrypt$1073741824$8$MDEyMw==$MDEyMw==",
        "md5$salt$hash",
    ],
)
def test_decision_I9_what_is_unknown_or_too_dear_is_refused(text):
    with pytest.raises(Invalid, match="password_hash"):
        imported_hashes.normalize(text)


def test_bcrypt_looks_at_72_bytes_as_it_always_has():
    long = "x" * 100
    stored = imported_hashes.normalize(bcrypt.hashpw(long[:72].encode(), bcrypt.gensalt(4)).decode())

    assert passwords.verify(long, stored)[0] is True
    assert passwords.verify("y" + long, stored)[0] is False


def test_firebases_published_example_is_verified():
    """https://github.com/firebase/scrypt, "Password hashing": the project and the account it shows."""
    stored = imported_hashes.encode_firebase(
        cost=14,
        rounds=8,
        salt=base64.b64decode("42xEC+ixf3L2lw=="),
        separator=base64.b64decode("Bw=="),
        signer_key=base64.b64decode(
            "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA=="
        ),
        checksum=base64.b64decode(
            "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ=="
        ),
    )

    assert passwords.verify("user1password", stored)[0] is True
    assert passwords.verify("user2password", stored)[0] is False


@pytest.mark.parametrize(
    "parts", [{"cost": 30}, {"rounds": 512}, {"cost": 0}, {"signer_key": b"short"}, {"salt": b""}]
)
def test_a_hash_of_firebase_that_is_too_dear_or_none_is_refused(parts):
    whole = {
        "cost": 14,
        "rounds": 8,
        "salt": b"salt",
        "separator": b"",
        "signer_key": b"k" * 64,
        "checksum": b"c" * 64,
    }

    with pytest.raises(Invalid, match="password_hash"):
        imported_hashes.encode_firebase(**(whole | parts))


def test_pbkdf2_is_verified_as_rfc_7914_has_it():
    """RFC 7914 section 11: PBKDF2-HMAC-SHA-256 with the password "passwd" and the salt "salt"."""
    checksum = bytes.fromhex("55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc")
    stored = imported_hashes.encode_pbkdf2("sha256", 1, b"salt", checksum)

    assert passwords.verify("passwd", stored)[0] is True
