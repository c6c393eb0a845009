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
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password

from identity.core.errors import ServiceError
from identity.users import aside

T = TypeVar("T")
_logger: Final = logging.getLogger("gatehouse.passwords")

_OURS: Final = "argon2$argon2id$v=19$m=19456,t=2,p=1$"
# Of 256 random bits that nobody knows: what passwords of unknown people are held against.
_OF_NOBODY: Final = f"{_OURS}OHIzMUx1WmVnNlByc0VBOEdwYlBvYg$XvdHmfvbL9La8KmNxoWtWGt7LzShU5oXH7QGU6K7i58"
_has_place: Final = ContextVar("has_place", default=False)
_LONGEST: Final = 128  # what libsodium takes as the text of a hash, and a little less


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
        if not encoded.startswith(_OURS) or len(encoded) > _LONGEST:
            return bool(super().verify(password, encoded))
        return aside.verify(password, encoded.removeprefix("argon2"))

    def encode(self, password: str, salt: str) -> str:
        """Hash a password."""
        hashed = aside.encode(password, salt, (self.time_cost, self.memory_cost, self.parallelism))
        return f"argon2{hashed}"


class Places:
    """A bounded number of hashes that run, and of requests that wait for their turn.

    They run in threads of their own, each of which has a process for it in a server (``aside``):
    a worker has many more threads than it may run hashes.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._all = BoundedSemaphore(running + waiting)
        self._threads = ThreadPoolExecutor(running, thread_name_prefix="hashing")

    @contextmanager
    def taken(self) -> Iterator[bool]:
        """Keep a place for the block, and tell whether there was one. What it runs needs no other."""
        if _has_place.get():
            yield True
            return
        if not self._all.acquire(blocking=False):
            yield False
            return
        token = _has_place.set(True)
        try:
            yield True
        finally:
            _has_place.reset(token)
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
            except aside.Gone:
                _logger.exception("no password can be hashed: sign-ins are answered 503")
                raise Busy from None


_places: Final = Places(running=settings.HASHING_CONCURRENCY, waiting=settings.HASHING_QUEUE)


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

    With nothing stored it takes the same time and says no, so that nobody learns from the
    time of an answer whether an account exists.

    Raises:
        Busy: too many are being hashed. Call it outside of transactions.

    """
    return _places.run(lambda: _verify(password, stored))


def _verify(password: str, stored: str | None) -> tuple[bool, str | None]:
    if not stored:
        check_password(password, _OF_NOBODY)
        return False, None
    renewed: list[str] = []
    right = check_password(password, stored, setter=lambda raw: renewed.append(make_password(raw)))
    return right, renewed[0] if renewed else None
