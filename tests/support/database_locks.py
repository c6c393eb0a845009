"""Requests that wait for a lock of an uncommitted change."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

import httpx
from django.db import connection, transaction

from tests.support.threads import wait_until


def is_blocking() -> bool:
    """Whether another session waits for a lock of this one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_locks WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.fetchone() is not None


def send_meanwhile(
    tenant: AbstractContextManager[Any], change: Callable[[], object], request: Callable[[], httpx.Response]
) -> httpx.Response:
    """Send a request while a change of the tenant is not committed, and return the response."""
    with ThreadPoolExecutor(1) as threads, tenant:
        with transaction.atomic():
            change()
            sent = threads.submit(request)
            assert wait_until(lambda: sent.done() or is_blocking())
        return sent.result()
