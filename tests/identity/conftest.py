"""Fixtures for the tests of limits."""

from collections.abc import Iterator
from typing import Any

import pytest

from database.redis import shared_redis
from identity.limits.models import Counter
from tests.support import redis_server
from tests.support.cast import World
from tests.support.redis_server import RedisServer


@pytest.fixture(scope="module")
def redis() -> Iterator[RedisServer]:
    """An empty Redis server."""
    with redis_server.running() as server:
        yield server


@pytest.fixture(params=["database", "redis"])
def store(request: pytest.FixtureRequest, settings: Any, acme: World) -> Iterator[str]:
    """Where limits are counted: each test runs with the database, then with Redis, in a new active tenant."""
    if request.param == "redis":
        settings.CACHE_URL = request.getfixturevalue("redis").url
        settings.CACHE_PREFIX = "gatehouse:test"
    shared_redis.cache_clear()
    with acme.active():
        yield str(request.param)
        # Limits were counted there, and nowhere else.
        assert Counter.objects.exists() == (request.param == "database")
    shared_redis.cache_clear()
