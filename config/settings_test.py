"""Settings of the tests: those of production, with temporary directories.

The test server is a separate process; it reads the same values from its environment.
"""

import atexit
import base64
import logging
import os
import shutil
import socket
import tempfile


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if "TEST_VAR_DIR" not in os.environ:
    # In memory if possible, which is faster. No test needs the files to survive a power failure.
    _memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - our own folder in it
    os.environ["TEST_VAR_DIR"] = tempfile.mkdtemp(prefix="gatehouse-test-", dir=_memory)
    atexit.register(shutil.rmtree, os.environ["TEST_VAR_DIR"], ignore_errors=True)

_VAR = os.environ["TEST_VAR_DIR"]
_PORT = os.environ.setdefault("TEST_PORT", str(_free_port()))
_POSTGRES = os.environ.get("TEST_DATABASE_URL", "postgres://postgres@127.0.0.1:5432/postgres")

os.environ |= {
    "DEBUG": "false",
    "VAR_DIR": _VAR,
    "HOST": "127.0.0.1",
    "PORT": _PORT,
    "BASE_URL": f"http://127.0.0.1:{_PORT}",
    "SECRET_KEY": base64.urlsafe_b64encode(os.urandom(48)).decode(),
    "ENCRYPTION_KEYS": base64.urlsafe_b64encode(os.urandom(32)).decode(),
    "ADMIN_USERNAME": "admin",
    "ADMIN_PASSWORD": "correct horse battery staple",
    "WEB_CONCURRENCY": "2",
    "HASHING_CONCURRENCY": "1",
    # All tests use one address; tests of limits set their own.
    "LIMIT_ADDRESS_SIGN_INS": "1000000",
    "LIMIT_ADDRESS_REGISTRATIONS": "1000000",
    "LIMIT_ADDRESS_CODE_SENDS": "1000000",
    "LIMIT_TENANT_TEXT_MESSAGES": "1000000",
    "LIMIT_CLIENT_FAILURES": "1000000",
    "LIMIT_ADDRESS_TOKEN_FAILURES": "1000000",
    "LIMIT_ADDRESS_NEW_PARKED_REQUESTS": "1000000",
    "LIMIT_ADDRESS_PARKED_REQUESTS": "1000000",
    "LIMIT_ADDRESS_WRONG_CODES": "1000000",
    "LIMIT_IDENTIFIER_WRONG_CODES": "1000000",
    "LIMIT_TENANT_WRONG_CODES": "1000000",
    "LIMIT_CONNECTOR_TESTS": "1000000",
    "LIMIT_TENANT_CONNECTOR_TESTS": "1000000",
    "LOCK_PAIR_FAILURES": "1000000",
    "LOCK_IDENTIFIER_FAILURES": "1000000",
    "DATABASE_URL": (
        f"{_POSTGRES.rpartition('/')[0]}/gatehouse_test_{_PORT}"
        if os.environ.get("TEST_ENGINE") == "postgres"
        else f"sqlite:///{_VAR}/test.sqlite3"
    ),
}
for _name in ("TRUSTED_PROXIES", "CACHE_URL", "PHONE_DEFAULT_REGION", "BREACHED_PASSWORDS"):
    os.environ.pop(_name, None)

from config.settings import *  # noqa: E402, F403 - it reads the environment set above

INSTALLED_APPS = [*INSTALLED_APPS, "zeal"]  # noqa: F405 - detects N+1 queries

for _name in ("httpx", "httpcore"):
    logging.getLogger(_name).setLevel(logging.WARNING)
