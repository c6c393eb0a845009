"""Django's cache in Redis, while Redis answers and while it does not."""

import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from redis import Redis

from database.redis import SharedCache, shared_redis
from management.site import statistics
from tests.support import redis_server
from tests.support.redis_server import RedisServer


@pytest.fixture
def redis(settings: Any) -> Iterator[RedisServer]:
    """An empty Redis server, which is that of ``CACHE_URL``."""
    with redis_server.running() as server:
        settings.CACHE_URL = server.url
        shared_redis.cache_clear()
        yield server
    shared_redis.cache_clear()


@pytest.fixture
def cache(redis: RedisServer) -> SharedCache:
    return SharedCache("", {"KEY_PREFIX": "gatehouse:test"})


def test_returns_what_was_stored(cache):
    cache.set("figures", {"days": [1, 2]}, 60)

    assert cache.get("figures") == {"days": [1, 2]}
    assert cache.get("figures", version=2) is None
    assert SharedCache("", {"KEY_PREFIX": "gatehouse:other"}).get("figures", "nothing") == "nothing"


def test_stores_json_with_its_lifetime(cache, redis):
    cache.set("minute", [1], 60)
    cache.set("default", [1])
    cache.set("always", [1], None)

    with Redis.from_url(redis.url) as reader:
        seconds = {name: reader.ttl(cache.make_key(name)) for name in ("minute", "default", "always")}
        stored: Any = reader.get(cache.make_key("minute"))
    assert 55 < seconds["minute"] <= 60
    assert 295 < seconds["default"] <= 300
    assert seconds["always"] == -1  # it does not expire
    assert json.loads(stored) == [1]


def test_zero_seconds_delete_what_was_stored(cache):
    cache.set("figures", [1], 60)

    cache.set("figures", [2], 0)

    assert cache.get("figures") is None


def test_finds_and_stores_nothing_without_redis(cache, redis):
    cache.set("figures", [1], 60)
    redis.kill()

    cache.set("figures", [2], 60)
    started = time.monotonic()

    assert cache.get("figures", "nothing") == "nothing"
    assert time.monotonic() - started < 0.05  # no request is sent after the first failure


@pytest.mark.parametrize("request_", ["add", "delete", "touch", "clear"])
def test_has_no_other_requests(cache, request_):
    arguments = {"add": ("figures", [1]), "clear": ()}.get(request_, ("figures",))

    with pytest.raises(NotImplementedError):
        getattr(cache, request_)(*arguments)


@pytest.mark.parametrize(
    "stored",
    [b"", b"\xff", b"[", b"[1, 2]", b'{"days": 1}', b"[" * 100_000, b'"%s"' % (b"[" * 100_000), b"7"],
    ids=lambda stored: repr(stored[:9]),
)
def test_attack_AP19_nonsense_in_place_of_the_figures(cache, redis, stored):
    with Redis.from_url(redis.url) as writer:
        writer.set(cache.make_key("figures"), stored)

    assert statistics._from_json(cache.get("figures")) is None
