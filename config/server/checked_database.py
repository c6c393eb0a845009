"""The thread's connection to the database, for work that Django's request handler does not do."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import close_old_connections


@contextmanager
def checked_database() -> Iterator[None]:
    """Check the connection first, and return it to the pool at the end, also after an error."""
    close_old_connections()
    try:
        yield
    finally:
        if settings.DATABASE_POOL:
            close_old_connections()
