"""Hashing passwords: Argon2id with OWASP's parameters, and never too many at a time.

A hash costs about 20 ms of a core and 19 MiB. A flood of sign-ins must not take all the
threads of a worker, so a few hashes run, a few wait, and the rest are told to come back.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, get_native_id
from typing import Final, TypeVar

from django.conf import settings
from django.contrib.auth.hashers import Argon2PasswordHasher, check_password, make_password

from identity.core.errors import ServiceError

T = TypeVar("T")

_NICE: Final = 10
_DUMMY_SALT: Final = "no-such-user-here"


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


def _step_back() -> None:
    """Let this thread run when nobody else wants to: hashing takes long, and tokens must not wait for it.

    On Linux the priority is a thread's own; elsewhere it would be the whole process's.
    """
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), _NICE)


class Places:
    """A bounded number of hashes that run, and of requests that wait for their turn.

    They run in threads of their own: what a hash needs of memory stays with the thread that
    made it, and a worker has many more threads than it may run hashes.
    """

    def __init__(self, *, running: int, waiting: int) -> None:
        self._all = BoundedSemaphore(running + waiting)
        self._threads = ThreadPoolExecutor(running, thread_name_prefix="hashing", initializer=_step_back)

    def check(self) -> None:
        """Make sure that somebody may wait at this moment.

        Raises:
            Busy: all places are taken.

        """
        if not self._all.acquire(blocking=False):
            raise Busy
        self._all.release()

    def run(self, work: Callable[[], T]) -> T:
        """Do the work when its turn comes, and return what it returns.

        Raises:
            Busy: at once, when nobody more may wait.

        """
        if not self._all.acquire(blocking=False):
            raise Busy
        try:
            return self._threads.submit(work).result()
        finally:
            self._all.release()


_places: Final = Places(running=settings.HASHING_CONCURRENCY, waiting=settings.HASHING_QUEUE)


def check_places() -> None:
    """Make sure that a password could be hashed now: asked before work that would be for nothing.

    Raises:
        Busy: it could not.

    """
    _places.check()


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
        Argon2id().encode(password, _DUMMY_SALT)
        return False, None
    renewed: list[str] = []
    right = check_password(password, stored, setter=lambda raw: renewed.append(make_password(raw)))
    return right, renewed[0] if renewed else None
