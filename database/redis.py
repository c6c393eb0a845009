"""The Redis or Valkey of CACHE_URL, which all nodes share, with a circuit breaker.

Timeouts are short, because a user waits for each request. After a failure no request is sent for some
seconds. Then one is sent, and the others follow if it succeeds.

The library is imported only if CACHE_URL is set, because it takes 10 MB in every worker.
"""

import json
import logging
import time
from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from django.conf import settings
from django.core.cache.backends.redis import RedisCache
from prometheus_client import Counter

if TYPE_CHECKING:
    from redis import Redis

T = TypeVar("T")

_PAUSE: Final = 5  # seconds
_FAILURES: Final = Counter(
    "gatehouse_shared_cache_failures", "Requests that the Redis of CACHE_URL did not answer."
)
_logger: Final = logging.getLogger(__name__)


class Unavailable(Exception):
    """Redis does not answer, or did not in the last seconds."""


def _client_options() -> dict[str, Any]:
    from redis.backoff import NoBackoff  # noqa: PLC0415 - see above
    from redis.retry import Retry  # noqa: PLC0415

    return {
        "socket_connect_timeout": 0.1,
        "socket_timeout": 0.1,
        "retry": Retry(NoBackoff(), 0),
        "max_connections": 10_000,  # never reached: a thread has at most one
    }


class InvalidReply(Exception):
    """The reply does not fit the request."""


class SharedRedis:
    """A client of Redis that fails fast while Redis is unavailable."""

    def __init__(self, url: str) -> None:
        from redis import Redis  # noqa: PLC0415 - see above

        self._client = Redis.from_url(url, **_client_options())
        self._lock = Lock()
        self._is_away = False
        self._asked_again_at = 0.0

    def ask(self, question: "Callable[[Redis], T]") -> T:
        """Return the result of a request to Redis.

        Raises:
            Unavailable: Redis did not answer within 0.1 seconds, now or in the last five seconds; or its
                reply is invalid.

        """
        if self._is_away and not self._is_due():
            raise Unavailable
        try:
            answer = question(self._client)
        except Exception as failure:  # noqa: BLE001 - the library raises any exception on a malformed reply
            # Further bytes on these connections may belong to other requests.
            self._client.connection_pool.disconnect(inuse_connections=False)
            self._note(type(failure).__name__)
            raise Unavailable from None
        if self._is_away:
            self._note("")
        return answer

    def _is_due(self) -> bool:
        with self._lock:
            now = time.monotonic()
            due = now >= self._asked_again_at
            if due:
                self._asked_again_at = now + _PAUSE
            return due

    def _note(self, failure: str) -> None:
        with self._lock:
            was_away, self._is_away = self._is_away, bool(failure)
            if failure:
                _FAILURES.inc()
                self._asked_again_at = time.monotonic() + _PAUSE
        if failure and not was_away:
            _logger.warning("the shared cache is away (%s): limits are counted in the database", failure)
        elif was_away and not failure:
            _logger.warning("the shared cache is back: limits are counted there")


@cache
def shared_redis() -> SharedRedis:
    """Return the client of CACHE_URL, which must be set."""
    return SharedRedis(settings.CACHE_URL)


class JSONSerializer:
    """Stores values as JSON. Django's serializer unpickles, which would let anyone who can write run code."""

    def dumps(self, value: object) -> bytes:
        """Return a value as JSON."""
        return json.dumps(value).encode()

    def loads(self, kept: bytes) -> object:
        """Return a stored value, or None, as if there were none, if it is not JSON."""
        try:
            value: object = json.loads(kept)
        except (ValueError, RecursionError):
            return None
        return value


class SharedCache(RedisCache):
    """Django's cache in Redis, which is empty and stores nothing while Redis is unavailable."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params | {"OPTIONS": _client_options() | {"serializer": JSONSerializer()}})

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return a cached value, or the default."""
        try:
            return shared_redis().ask(lambda _: super(SharedCache, self).get(key, default, version))
        except Unavailable:
            return default

    def set(self, key: Any, value: Any, *options: Any, **more: Any) -> None:
        """Store a value, unless Redis is unavailable."""
        try:
            shared_redis().ask(lambda _: super(SharedCache, self).set(key, value, *options, **more))
        except Unavailable:
            return
