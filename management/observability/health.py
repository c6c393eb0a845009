"""Readiness checks of this server, for load balancers."""

import logging
from collections.abc import Callable
from functools import cache
from typing import Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from database import availability
from identity.core import tenancy
from management.upgrades import pending
from oidc.keys import signing
from oidc.keys.models import SigningKey

_logger: Final = logging.getLogger(__name__)


class NotReady(Exception):
    """This server lacks something that every sign-in needs."""


def failures() -> list[str]:
    """Return the name of the first failed check, in a list: ``database``, ``migrations`` or ``keys``.

    The log has the reason. Later checks do not run, because they depend on the earlier ones.
    """
    for name, check in _CHECKS.items():
        try:
            check()
        except Exception:  # any failure means that this server is not ready
            _logger.warning("not ready: %s", name, exc_info=True)
            return [name]
    return []


def _database() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    if availability.is_read_only(connection):
        raise NotReady("the database is read-only: this is a standby")


def missing_migrations() -> set[tuple[str, str]]:
    """Return the migrations that this release needs and that are not applied, by app and name."""
    return set(_known_migrations() - MigrationRecorder(connection).applied_migrations().keys())


def _migrations() -> None:
    if missing := missing_migrations():
        raise NotReady(f"{len(missing)} migrations are not applied: run manage.py migrate")


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations that this release needs. A newer release may have applied more."""
    return pending.get_required_migrations()


def _keys() -> None:
    """Sign a token, to check that the active key exists and that ENCRYPTION_KEYS can decrypt it."""
    with tenancy.using(tenancy.DEFAULT):
        key = SigningKey.objects.default().only("pk").get()
        signing.sign({}, typ="JWT", key_id=key.pk)


_CHECKS: Final[dict[str, Callable[[], None]]] = {
    "database": _database,
    "migrations": _migrations,
    "keys": _keys,
}
