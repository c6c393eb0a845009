"""Whether this server can serve: what a load balancer asks before it sends somebody here."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from identity.core import tenancy
from management.upgrades import pending
from oidc.keys import signing
from oidc.keys.models import SigningKey

_logger: Final = logging.getLogger(__name__)


class NotReady(Exception):
    """Something that every sign-in needs is not there."""


def failures() -> list[str]:
    """Return the names of what is not ready: ``database``, ``migrations``, ``keys``. Why goes to the log.

    The first that fails is the last that is asked: without a database nothing else can be told.
    """
    for name, check in _CHECKS.items():
        try:
            check()
        except Exception:  # whatever it is, this server is not ready
            _logger.warning("not ready: %s", name, exc_info=True)
            return [name]
    return []


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def missing_migrations() -> set[tuple[str, str]]:
    """Return what this release needs and the database has not seen, by app and name."""
    return set(_known_migrations() - MigrationRecorder(connection).applied_migrations().keys())


def _migrations() -> None:
    if missing := missing_migrations():
        raise NotReady(f"{len(missing)} migrations are not applied: run manage.py migrate")


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return what this release needs; the database may know more, of the next release beside this one."""
    return pending.needed_to_serve()


def _keys() -> None:
    """Sign something: the active key is there, and the ring of ENCRYPTION_KEYS opens it."""
    with tenancy.using(tenancy.DEFAULT):
        key = SigningKey.objects.active().only("pk").get()
        signing.sign({}, typ="JWT", key_id=key.pk)


_CHECKS: Final[dict[str, Callable[[], None]]] = {
    "database": _database,
    "migrations": _migrations,
    "keys": _keys,
}
