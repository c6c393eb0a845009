"""Checks of the cache that nodes share."""

import secrets
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from database.redis import Unavailable, shared_redis
from identity.core.doctor_checks import doctor_check

_KEY: Final = "gatehouse-doctor"


@doctor_check
def shared_cache() -> Iterator[CheckMessage]:
    """Check that the cache returns a value that was written, and that a full Redis evicts no keys."""
    value = secrets.token_hex(8)
    try:
        cache.set(_KEY, value, timeout=10)
        works = cache.get(_KEY) == value
    except Exception:  # noqa: BLE001 - each backend has errors of its own, which may quote CACHE_URL
        works = False
    if not works:
        yield Error(
            "the cache of CACHE_URL does not respond, or does not store values",
            hint="check that the cache runs and that the address and password in CACHE_URL are right, or "
            "remove CACHE_URL; until then, nodes that cannot reach the cache count limits in the database",
            id="cache.E001",
        )
    elif settings.CACHE_URL and _evicts_keys():
        yield Warning(
            "the Redis of CACHE_URL evicts keys when its memory is full, including counts of failed sign-ins",
            hint="set maxmemory-policy to noeviction; while Redis is full, limits are counted in the "
            "database",
            id="cache.W002",
        )


def _evicts_keys() -> bool:
    try:
        memory = shared_redis().run(lambda redis: redis.info("memory"))
    except Unavailable:
        return False
    return bool(memory.get("maxmemory")) and str(memory.get("maxmemory_policy")) != "noeviction"
