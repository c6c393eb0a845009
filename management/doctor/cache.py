"""The cache that nodes share, where there is one."""

import secrets
from collections.abc import Iterator
from typing import Final

from django.core.cache import cache
from django.core.checks import CheckMessage, Error

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
            hint="check that it runs and that the address and password are right, or leave CACHE_URL out",
            id="cache.E001",
        )
