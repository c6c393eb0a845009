"""Hashing passwords: Argon2id with OWASP's parameters, and never too many at a time.

A hash costs 15 to 20 ms of a core and 19 MiB. A flood of sign-ins must not take all the
threads of a worker, so a few hashes run, a few wait, and the rest are told to come back.
"""

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from threading import BoundedSemaphore
from typing import Final, TypeVar

from django.conf import settings
from django.contrib.auth.hashers import (
    Argon2PasswordHasher,
    check_password,
    identify_hasher,
    make_password,
)

from identity.core.errors import ServiceError
from identity.users import hash_formats, hashing_process

T = TypeVar("T")
_logger: Final = logging.getLogger("gatehouse.passwords")

# Of 256 random bits that nobody knows: what passwords of unknown people are held against.
_OF_NOBODY: Final = (
    f"{hash_formats.OURS}OHIzMUx1WmVnNlByc0VBOEdwYlBvYg$XvdHmfvbL9La8KmNxoWtWGt7LzShU5oXH7QGU6K7i58"
)


class Busy(ServiceError):
    """All the places for hashing are taken."""

    status = 503
    reason = "overloaded"
    message = "too many sign-ins at this moment: try again in a few seconds"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "2"})


class Argon2id(Argon2PasswordHasher):
    """Argon2id, 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet)."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def verify(self, password: str, encoded: str) -> bool:
        """Tell whether a password is right."""
        if not hash_formats.is_ours(encoded):
            return bool(super().verify(password, encoded))
        return hashing_process.verify(password, encoded.removeprefix("argon2"))

    def encode(self, password: str, salt: str) -> str:
        """Hash a password."""
        hashed = hashing_process.encode(password, salt, (self.time_cost, self.memory_cost, self.parallelism))
        return f"argon2{hashed}"


class Places:
    """A bounded number of hashes that run, and of requests that wait for their turn.

    They run in threads of their own, each of which has a process for it in a server (``hashing_process``):
    a worker has many more threads than it may run hashes.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._has_place = ContextVar("has_place", default=False)
        self._all = BoundedSemaphore(running + waiting)
        self._threads = ThreadPoolExecutor(running, thread_name_prefix="hashing")

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Keep a place for the block, and tell whether there was one. What it runs needs no other."""
        if self._has_place.get():
            yield True
            return
        if not self._all.acquire(blocking=False):
            yield False
            return
        token = self._has_place.set(True)
        try:
            yield True
        finally:
            self._has_place.reset(token)
            self._all.release()

    def run(self, work: Callable[[], T]) -> T:
        """Do the work when its turn comes, and return what it returns.

        Raises:
            Busy: at once, when nobody more may wait; or the machine does not let hashes be made.

        """
        with self.taken() as taken:
            if not taken:
                raise Busy
            try:
                return self._threads.submit(work).result()
            except hashing_process.Gone:
                _logger.exception("no password can be hashed: sign-ins are answered 503")
                raise Busy from None


_places: Final = Places(running=settings.HASHING_CONCURRENCY, waiting=settings.HASHING_QUEUE)
# Hashes of other systems cost what those chose. One runs at a time, and those that wait for it
# leave half of the queue to everybody else.
_foreign_places: Final = Places(running=1, waiting=settings.HASHING_QUEUE // 2)


def place() -> AbstractContextManager[bool]:
    """Keep a place for what the block hashes, and tell whether there was one."""
    return _places.taken()


def check_places() -> None:
    """Make sure that a password could be hashed now: asked before work that would be for nothing.

    Raises:
        Busy: it could not.

    """
    with _places.taken() as taken:
        if not taken:
            raise Busy


def hashed(password: str) -> str:
    """Hash a password for storage.

    Raises:
        Busy: too many are being hashed. Call it outside of transactions.

    """
    return _places.run(lambda: make_password(password))


def verify(password: str, stored: str | None) -> tuple[bool, str | None]:
    """Tell whether a password is right, and its new hash when the stored one is out of date.

    With nothing stored it takes as long as with a hash of ours, and the answer is no, so that nobody
    learns from the time of an answer whether an account exists. A hash of another system is checked
    in a queue of its own, and replaced when the password is right.

    Raises:
        Busy: too many are being hashed. Call it outside of transactions.

    """
    if not stored:
        _places.run(lambda: check_password(password, _OF_NOBODY))
        return False, None
    if hash_formats.is_ours(stored):
        return _places.run(lambda: _verify_ours(password, stored))
    with _places.taken() as taken:
        if not taken:
            raise Busy
        if not _foreign_places.run(lambda: _verify_foreign(password, stored)):
            return False, None
        return True, hashed(password)


def _verify_ours(password: str, stored: str) -> tuple[bool, str | None]:
    renewed: list[str] = []
    right = check_password(password, stored, setter=lambda raw: renewed.append(make_password(raw)))
    return right, renewed[0] if renewed else None


def _verify_foreign(password: str, stored: str) -> bool:
    try:
        return bool(identify_hasher(stored).verify(password, stored))
    except ValueError:
        # What is imported today can be verified. An earlier release may have stored what cannot.
        _logger.exception("a stored password hash cannot be verified: its user needs a new password")
        return False
