"""Password hashing: Argon2id with OWASP's parameters, in a bounded queue.

A hash takes 15 to 20 ms of a core and 19 MiB. In each worker a few hashes run and a few requests wait. Others
get 503, so that a flood of sign-ins does not occupy all threads of the worker.
"""

import logging
from collections.abc import Callable, Iterator
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
from django.utils.translation import gettext_noop

from identity.core.errors import ServiceError
from identity.users import hash_formats, hashing_process

T = TypeVar("T")
_WAIT_SECONDS: Final = 5.0
_logger: Final = logging.getLogger("gatehouse.passwords")

# A dummy hash of 256 random bits, so that a sign-in to an unknown account takes the same time.
_DUMMY_HASH: Final = (
    f"{hash_formats.OURS}OHIzMUx1WmVnNlByc0VBOEdwYlBvYg$XvdHmfvbL9La8KmNxoWtWGt7LzShU5oXH7QGU6K7i58"
)


class Busy(ServiceError):
    """The hashing queue is full."""

    status = 503
    reason = "overloaded"
    message = gettext_noop("too many sign-ins: try again in a few seconds")

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "2"})


class Argon2id(Argon2PasswordHasher):
    """Argon2id, 19 MiB, two passes, one lane (OWASP Password Storage Cheat Sheet)."""

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def verify(self, password: str, encoded: str) -> bool:
        """Return whether a password is right."""
        if not hash_formats.is_ours(encoded):
            return bool(super().verify(password, encoded))
        return hashing_process.verify(password, encoded.removeprefix("argon2"))

    def encode(self, password: str, salt: str) -> str:
        """Hash a password."""
        hashed = hashing_process.encode(password, salt, (self.time_cost, self.memory_cost, self.parallelism))
        return f"argon2{hashed}"


class Place:
    """A place in a queue. Hashes inside its ``with`` block use it; the end of the block releases it."""

    def __init__(self, places: BoundedSemaphore, has_place: ContextVar[bool]) -> None:
        self._places: Final = places
        self._has_place: Final = has_place

    def __enter__(self) -> None:
        self._token = self._has_place.set(True)

    def __exit__(self, *failure: object) -> None:
        self._has_place.reset(self._token)
        self._places.release()


class HashingQueue:
    """A queue in which ``running`` hashes run at once and ``waiting`` requests wait; others are refused.

    A hash runs in the thread of its request, which waits for a process or for its turn.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._has_place = ContextVar("has_place", default=False)
        self._places = BoundedSemaphore(running + waiting)
        self._turns = BoundedSemaphore(running)

    @contextmanager
    def reserve(self) -> Iterator[bool]:
        """Reserve a place for the block, and yield whether there was one. Inside, ``run`` uses it."""
        if self._has_place.get():
            yield True
        elif (place := self.take_place()) is None:
            yield False
        else:
            with place:
                yield True

    def is_full(self) -> bool:
        """Return whether all places are taken now."""
        return not self._places._value  # noqa: SLF001 - any attempt to find out would take a place

    def take_place(self) -> Place | None:
        """Take a place, which another thread can use, or return None if all are taken."""
        return Place(self._places, self._has_place) if self._places.acquire(blocking=False) else None

    def run(self, work: Callable[[], T]) -> T:
        """Run ``work`` when it is its turn, and return its result.

        Raises:
            Busy: the queue is full, its hashes take too long, or no hashing process works.

        """
        with self.reserve() as is_reserved:
            if not is_reserved:
                raise Busy
            if not self._turns.acquire(timeout=_WAIT_SECONDS):
                raise Busy
            try:
                return work()
            except hashing_process.ProcessFailed:
                _logger.exception("no password can be hashed: sign-ins get 503")
                raise Busy from None
            finally:
                self._turns.release()


_queue: Final = HashingQueue(running=settings.HASHING_CONCURRENCY, waiting=settings.HASHING_QUEUE)
# Hashes of other systems can cost more. One runs at a time, and they fill at most half of the queue.
_foreign_queue: Final = HashingQueue(running=1, waiting=settings.HASHING_QUEUE // 2)


def reserve_place() -> AbstractContextManager[bool]:
    """Reserve a place in the queue for the hashes of the block, and yield whether there was one."""
    return _queue.reserve()


def is_full() -> bool:
    """Return whether no place is free now."""
    return _queue.is_full()


def take_place() -> Place | None:
    """Take a place for a request that another thread will serve, or return None if all are taken."""
    return _queue.take_place()


def check_capacity() -> None:
    """Refuse the request early if its password could not be hashed.

    Raises:
        Busy: the queue is full.

    """
    with _queue.reserve() as is_reserved:
        if not is_reserved:
            raise Busy


def hash_password(password: str) -> str:
    """Return the hash of a password. Call it outside of transactions.

    Raises:
        Busy: the queue is full.

    """
    return _queue.run(lambda: make_password(password))


def verify(password: str, stored: str | None) -> tuple[bool, str | None]:
    """Return whether a password is right, and a new hash if the stored one is out of date.

    Without a stored hash, this takes as long as with an Argon2id hash, so that the response time does not
    reveal whether an account exists. Hashes of other systems are verified in their own queue, and replaced if
    the password is right. Call this outside of transactions.

    Raises:
        Busy: the queue is full.

    """
    if not stored:
        _queue.run(lambda: check_password(password, _DUMMY_HASH))
        return False, None
    if hash_formats.is_ours(stored):
        return _queue.run(lambda: _verify_ours(password, stored))
    with _queue.reserve() as is_reserved:
        if not is_reserved:
            raise Busy
        if not _foreign_queue.run(lambda: _verify_foreign(password, stored)):
            return False, None
        return True, hash_password(password)


def _verify_ours(password: str, stored: str) -> tuple[bool, str | None]:
    renewed: list[str] = []
    is_right = check_password(password, stored, setter=lambda raw: renewed.append(make_password(raw)))
    return is_right, renewed[0] if renewed else None


def _verify_foreign(password: str, stored: str) -> bool:
    try:
        return bool(identify_hasher(stored).verify(password, stored))
    except ValueError:
        # The import refuses such hashes. Earlier releases stored them.
        _logger.exception("a stored password hash cannot be verified: its user needs a new password")
        return False
