"""The cache that nodes share, where there is one."""

import secrets
from collections.abc import Iterator
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.core.checks import CheckMessage, Error, Warning  # noqa: A004 - Django's name

from database.redis import Unavailable, shared_redis
from identity.core.examination import examined

_KEY: Final = "gatehouse-doctor"


@examined
def shared_cache() -> Iterator[CheckMessage]:
    """Write something, and read it again."""
    value = secrets.token_hex(8)
    try:
        cache.set(_KEY, value, timeout=10)
        kept = cache.get(_KEY) == value
    except Exception:  # noqa: BLE001 - each backend has errors of its own, which may quote CACHE_URL
        kept = False
    if not kept:
        yield Error(
            "the cache of CACHE_URL keeps nothing, or does not answer",
            hint="check that it runs and that the address and password are right, or leave CACHE_URL out; "
            "meanwhile limits are counted in the database, for each node that it is away from",
            id="cache.E001",
        )
    elif settings.CACHE_URL and _forgets():
        yield Warning(
            "the Redis of CACHE_URL drops any key when its memory is full: counts of failed sign-ins as well",
            hint="set its maxmemory-policy to noeviction: once it is full, the database counts",
            id="cache.W002",
        )


def _forgets() -> bool:
    try:
        memory = shared_redis().ask(lambda redis: redis.info("memory"))
    except Unavailable:
        return False
    return bool(memory.get("maxmemory")) and str(memory.get("maxmemory_policy")) != "noeviction"
