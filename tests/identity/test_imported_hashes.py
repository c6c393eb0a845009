"""Decision I9: password hashes of other systems are taken, verified, and replaced at the first sign-in."""

import base64
import hashlib

import bcrypt
import pytest
from argon2 import PasswordHasher

from identity.core.errors import Invalid
from identity.users import imported_hashes, passwords

PASSWORD = "correct horse battery"
SALT = "0123456789abcdef"


def unpadded(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


def pbkdf2(digest: str) -> str:
    checksum = hashlib.pbkdf2_hmac(digest, PASSWORD.encode(), SALT.encode(), 1000)
    return f"$pbkdf2-{digest}$i=1000${unpadded(SALT.encode())}${unpadded(checksum)}"


def scrypt() -> str:
    checksum = hashlib.scrypt(PASSWORD.encode(), salt=SALT.encode(), n=1024, r=8, p=1, dklen=64)
    return f"$scrypt$ln=10,r=8,p=1${unpadded(SALT.encode())}${unpadded(checksum)}"


FOREIGN = {
    "argon2id": PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD),
    "bcrypt": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode(),
    "pbkdf2-sha256": pbkdf2("sha256"),
    "scrypt": scrypt(),
    "django pbkdf2": "pbkdf2_sha256$1000$"
    + SALT
    + "$"
    + base64.b64encode(hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), SALT.encode(), 1000)).decode(),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_decision_I9_a_foreign_hash_verifies_and_is_renewed(kind):
    stored = imported_hashes.acceptable(FOREIGN[kind])

    right, renewed = passwords.verify(PASSWORD, stored)
    wrong, _ = passwords.verify(PASSWORD + "!", stored)

    assert right is True
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
        "md5$salt$hash",
    ],
)
def test_decision_I9_what_is_unknown_or_too_dear_is_refused(text):
    with pytest.raises(Invalid, match="password_hash"):
        imported_hashes.acceptable(text)
