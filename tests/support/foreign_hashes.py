"""Password hashes of other products that can be imported."""

import base64
import hashlib

import bcrypt
from argon2 import PasswordHasher
from django.contrib.auth.hashers import ScryptPasswordHasher, make_password

PASSWORD = "correct horse battery"
SALT = "0123456789abcdef"


def unpadded(raw: bytes) -> str:
    return base64.b64encode(raw).decode().rstrip("=")


def pbkdf2(digest: str, salt: bytes = SALT.encode()) -> str:
    checksum = hashlib.pbkdf2_hmac(digest, PASSWORD.encode(), salt, 1000)
    return f"$pbkdf2-{digest}$i=1000${unpadded(salt)}${unpadded(checksum)}"


def scrypt(salt: bytes = SALT.encode(), *, log_n: int = 10, size: int = 64) -> str:
    checksum = hashlib.scrypt(
        PASSWORD.encode(), salt=salt, n=1 << log_n, r=8, p=1, dklen=size, maxmem=1 << 28
    )
    return f"$scrypt$ln={log_n},r=8,p=1${unpadded(salt)}${unpadded(checksum)}"


FOREIGN = {
    "argon2id": PasswordHasher(time_cost=1, memory_cost=8192, parallelism=1).hash(PASSWORD),
    "bcrypt": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode(),
    "pbkdf2-sha256": pbkdf2("sha256"),
    "scrypt": scrypt(),
    "bcrypt of php": bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode().replace("$2b$", "$2y$"),
    "pbkdf2-sha512, a salt of bytes": pbkdf2("sha512", bytes(range(128, 144))),
    "scrypt, a salt of bytes and 32 bytes": scrypt(bytes(range(128, 144)), size=32),
    "scrypt of 64 MiB": scrypt(log_n=16),
    "django argon2": make_password(PASSWORD, hasher="argon2"),
    "django bcrypt_sha256": make_password(PASSWORD, hasher="bcrypt_sha256"),
    "django scrypt": ScryptPasswordHasher().encode(PASSWORD, "salt"),
    "django pbkdf2": "pbkdf2_sha256$1000$"
    + SALT
    + "$"
    + base64.b64encode(hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), SALT.encode(), 1000)).decode(),
}
