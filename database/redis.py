"""The Redis or Valkey of CACHE_URL, which all nodes share, and whether it is worth asking at this moment.

It is asked with little patience, because a person waits behind each question. When it does not
answer, nobody asks it for some seconds; then one does, and the others once that went well.

Its library is loaded where there is such a thing to ask: it takes 10 MB of every worker.
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
    "gatehouse_shared_cache_failures", "Questions that the Redis of CACHE_URL did not answer."
)
_logger: Final = logging.getLogger(__name__)


class Unavailable(Exception):
    """It does not answer, or did not a moment ago."""


def _patience() -> dict[str, Any]:
    from redis.backoff import NoBackoff  # noqa: PLC0415 - see above
    from redis.retry import Retry  # noqa: PLC0415

    return {
        "socket_connect_timeout": 0.1,
        "socket_timeout": 0.1,
        "retry": Retry(NoBackoff(), 0),
        "max_connections": 10_000,  # never in the way: there is one for a thread at most
    }


class InvalidReply(Exception):
    """It answered something that is no answer to the question."""


class SharedRedis:
    """A Redis that may be away."""

    def __init__(self, url: str) -> None:
        from redis import Redis  # noqa: PLC0415 - see above

        self._client = Redis.from_url(url, **_patience())
        self._lock = Lock()
        self._is_away = False
        self._asked_again_at = 0.0

    def ask(self, question: "Callable[[Redis], T]") -> T:
        """Return what it answers.

        Raises:
            Unavailable: it did not answer within 0.1 seconds, now or in the last five seconds; or its reply
                is invalid.

        """
        if self._is_away and not self._is_due():
            raise Unavailable
        try:
            answer = question(self._client)
        except Exception as failure:  # noqa: BLE001 - on nonsense the library raises whatever comes of it
            # What follows on these connections may belong to other questions.
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
    """Return the one of CACHE_URL, which has to be set."""
    return SharedRedis(settings.CACHE_URL)


class JSONSerializer:
    """Writes values as JSON. Django would unpickle what it finds, which lets whoever wrote it run code."""

    def dumps(self, value: object) -> bytes:
        """Return a value as it is kept."""
        return json.dumps(value).encode()

    def loads(self, kept: bytes) -> object:
        """Return what is kept; None, as if nothing were there, when that is not JSON."""
        try:
            value: object = json.loads(kept)
        except (ValueError, RecursionError):
            return None
        return value


class SharedCache(RedisCache):
    """Django's cache in it, which has nothing and keeps nothing while it is away."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params | {"OPTIONS": _patience() | {"serializer": JSONSerializer()}})

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        """Return what is kept, or the default."""
        try:
            return shared_redis().ask(lambda _: super(SharedCache, self).get(key, default, version))
        except Unavailable:
            return default

    def set(self, key: Any, value: Any, *options: Any, **more: Any) -> None:
        """Keep it, if that can be done."""
        try:
            shared_redis().ask(lambda _: super(SharedCache, self).set(key, value, *options, **more))
        except Unavailable:
            return
