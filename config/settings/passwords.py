"""How passwords are hashed, and how many at once."""

import os

from config import env
from config.settings.installation import THREADS, WEB_CONCURRENCY

PASSWORD_HASHERS = [
    "identity.users.passwords.Argon2id",
    # For imported passwords, until the user's first sign-in here.
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2SHA1PasswordHasher",
    "identity.users.foreign_hashers.Bcrypt",
    "django.contrib.auth.hashers.BCryptSHA256PasswordHasher",
    "identity.users.foreign_hashers.Pbkdf2",
    "django.contrib.auth.hashers.ScryptPasswordHasher",
    "identity.users.foreign_hashers.Scrypt",
    "identity.users.foreign_hashers.FirebaseScrypt",
]
# The number of hashes that a worker computes at once, and of sign-ins that wait. The sum is less than the
# number of threads, so a flood of sign-ins leaves threads for other requests.
HASHING_CONCURRENCY = env.integer(
    "HASHING_CONCURRENCY",
    min(max(1, (os.cpu_count() or 1) // WEB_CONCURRENCY), THREADS // 2),
    least=1,
    most=THREADS // 2,
)
HASHING_QUEUE = env.integer(
    "HASHING_QUEUE",
    max(0, THREADS - HASHING_CONCURRENCY - 4),
    least=0,
    most=THREADS - HASHING_CONCURRENCY - 1,
)
