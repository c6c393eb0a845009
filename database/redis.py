"""The Redis or Valkey server of ``CACHE_URL``, which all nodes share, behind a circuit breaker.

Timeouts are short, because a user waits for each request. After a failure no request is sent for five
seconds. Then one request is tried. If it succeeds, the others are sent again.

The library is imported only if ``CACHE_URL`` is set, because it takes 10 MB in every worker.
"""

import json
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.conf import settings
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache
from prometheus_client import Counter

from database import batching

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_RETRY_SECONDS: Final = 5
_FAILURES: Final = Counter(
    "gatehouse_shared_cache_failures", "Requests that the Redis of CACHE_URL did not answer."
)
_logger: Final = logging.getLogger(__name__)


class Unavailable(Exception):
    """Redis did not answer, now or in the last five seconds, or its reply is invalid."""


class InvalidReply(Exception):
    """The reply does not have the form that the request expects."""


class SharedRedis:
    """A client of Redis that fails fast while Redis is unavailable."""

    def __init__(self, url: str) -> None:
        from redis import Redis  # noqa: PLC0415 - see above
        from redis.backoff import NoBackoff  # noqa: PLC0415
        from redis.retry import Retry  # noqa: PLC0415

        self._client = Redis.from_url(
            url,
            socket_connect_timeout=0.1,
            socket_timeout=0.1,
            retry=Retry(NoBackoff(), 0),
            max_connections=10_000,  # never reached: a thread has at most one
        )
        self._lock = Lock()
        self._is_unavailable = False
        self._retry_at = 0.0

    def run(self, request: "Callable[[Redis], T]") -> T:
        """Run a request to Redis and return its result.

        Raises:
            Unavailable: Redis did not answer within 0.1 seconds, now or in the last five seconds, or its
                reply is invalid.
            SynchronousOnlyOperation: this is an event loop, which must not wait.

        """
        batching.refuse_in_loop()
        if self._is_unavailable and not self._may_retry():
            raise Unavailable
        try:
            result = request(self._client)
        except Exception as failure:  # noqa: BLE001 - the library raises any exception on a malformed reply
            # A late reply to this request may still arrive on these connections.
            self._client.connection_pool.disconnect(inuse_connections=False)
            self._set_failure(type(failure).__name__)
            raise Unavailable from None
        if self._is_unavailable:
            self._set_failure("")
        return result

    def _may_retry(self) -> bool:
        with self._lock:
            now = time.monotonic()
            is_due = now >= self._retry_at
            if is_due:
                self._retry_at = now + _RETRY_SECONDS
            return is_due

    def _set_failure(self, failure: str) -> None:
        with self._lock:
            was_unavailable, self._is_unavailable = self._is_unavailable, bool(failure)
            if failure:
                _FAILURES.inc()
                self._retry_at = time.monotonic() + _RETRY_SECONDS
        if failure and not was_unavailable:
            _logger.warning("Redis does not answer (%s): limits are counted in the database", failure)
        elif was_unavailable and not failure:
            _logger.warning("Redis answers again: limits are counted there")


@cache
def shared_redis() -> SharedRedis:
    """Return the client for ``CACHE_URL``, which must be set."""
    return SharedRedis(settings.CACHE_URL)


class SharedCache(BaseCache):
    """Django's cache in Redis. While Redis is unavailable, it finds nothing and stores nothing.

    It has ``get`` and ``set``: ``add``, ``delete``, ``touch`` and ``clear`` raise NotImplementedError. Values
    are stored as JSON. With pickle, as in Django, anyone who can write to Redis could run code.
    """

    def __init__(self, _location: str, params: dict[str, Any]) -> None:
        super().__init__(params)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return a cached value, or the default if there is none or it is not JSON."""
        name = self.make_and_validate_key(key, version=version)
        try:
            stored: Any = shared_redis().run(lambda redis: redis.get(name))
            return default if stored is None else json.loads(stored)
        except (Unavailable, ValueError, RecursionError):
            return default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """Store a value for a number of seconds, unless Redis is unavailable.

        As in Django, a value stored for None does not expire, and one for 0 seconds is deleted.
        """
        name, stored = self.make_and_validate_key(key, version=version), json.dumps(value)
        seconds: Any = self.default_timeout if timeout is DEFAULT_TIMEOUT else timeout
        with suppress(Unavailable):
            if seconds is None or seconds > 0:
                shared_redis().run(lambda redis: redis.set(name, stored, ex=seconds))
            else:
                shared_redis().run(lambda redis: redis.delete(name))
