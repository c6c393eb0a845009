"""Checks of the database: connection, version, migrations, clock, number of connections, rights."""

import time
from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's name
from django.db import Error as DatabaseFailure
from django.db import NotSupportedError, connection

from database.worker_connections import BESIDES_THREADS
from identity.core.doctor_checks import doctor_check, join_names
from management.observability import health

_MAX_CLOCK_DIFFERENCE: Final = 5  # seconds
_MAX_FOR_CODES: Final = 20  # seconds; a code lives for 30, and may be one step off
_CODES: Final = ", and correct codes of authenticators are refused from about 30 seconds on"

_RIGHTS: Final = """
SELECT rolname, rolsuper,
    EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('audit_entry') AND pg_has_role(relowner, 'USAGE')),
    coalesce(has_table_privilege(to_regclass('audit_entry'), 'UPDATE, DELETE, TRUNCATE'), false)
FROM pg_roles WHERE rolname = current_user
"""


@doctor_check
def database() -> Iterator[CheckMessage]:
    """Check that the database is reachable, then its migrations and settings."""
    try:
        connection.ensure_connection()
        connection.cursor().close()
    except NotSupportedError as refused:
        yield Error(f"the database is too old: {refused}", hint="upgrade it", id="database.E002")
    except DatabaseFailure as failure:
        yield Error(
            f"the database cannot be reached: {_without_password(str(failure))}",
            hint="check that the database runs, and check DATABASE_URL: host, port, name, user, password",
            id="database.E001",
        )
    else:
        yield from _migrations()
        yield from _postgresql() if connection.vendor == "postgresql" else _sqlite()


def _migrations() -> Iterator[CheckMessage]:
    if missing := health.missing_migrations():
        yield Error(
            f"{len(missing)} migrations are not applied, for example {'.'.join(min(missing))}",
            hint="run manage.py migrate once, before servers of this release start",
            id="database.E005",
        )


def _sqlite() -> Iterator[CheckMessage]:
    if not settings.DEVELOPMENT:
        yield Warning(
            "production uses SQLite, which allows one node and one writer at a time",
            hint="for more than one small node, set DATABASE_URL to PostgreSQL (docs/deployment.md)",
            id="database.W004",
        )


def _postgresql() -> Iterator[CheckMessage]:
    allowed = _setting("max_connections") - _setting("superuser_reserved_connections")
    needed = settings.WEB_CONCURRENCY * (settings.DATABASE_POOL or settings.THREADS + BESIDES_THREADS)
    if needed > allowed:
        yield Warning(
            f"this node may open {needed} connections, but PostgreSQL allows {allowed} for all its clients",
            hint="set DATABASE_POOL, lower WEB_CONCURRENCY or THREADS, or raise max_connections; "
            "add up the connections of all nodes",
            id="database.W003",
        )
    difference = abs(float(_value("SELECT extract(epoch FROM clock_timestamp())")) - time.time())
    if difference > _MAX_CLOCK_DIFFERENCE:
        yield Warning(
            f"the clock of this machine and that of the database are {int(difference)} seconds apart",
            hint="synchronise both with a time server (chrony, systemd-timesyncd): the lifetimes of tokens "
            f"depend on it{_CODES if difference > _MAX_FOR_CODES else ''}",
            id="database.W006",
        )
    yield from _role()


def _role() -> Iterator[CheckMessage]:
    """Check which tables the database role of this node can read, and whether it can change the audit log."""
    with connection.cursor() as cursor:
        cursor.execute(_RIGHTS)
        role, is_superuser, is_owner, can_change = cursor.fetchone()
    if is_superuser and not settings.DEVELOPMENT:
        yield Warning(
            f"this node connects as {role}, a superuser: one SQL injection would expose the whole server",
            hint="connect with a separate role for serving (docs/deployment.md, Two database roles)",
            id="database.W007",
        )
    elif is_owner:
        yield Info(
            f"this node connects as {role}, which owns the audit log and can disable its triggers",
            hint="connect with a separate role for serving (docs/deployment.md, Two database roles)",
            id="database.I008",
        )
    elif can_change:
        yield Warning(
            f"this node connects as {role}, which may update, delete or truncate audit entries",
            hint=f"run manage.py migrate as the owner, with DATABASE_SERVING_ROLE={role}",
            id="database.W009",
        )
    if unreadable := _unreadable():
        yield Error(
            f"this node connects as {role}, which may not read {join_names(unreadable)}",
            hint=f"run manage.py migrate as the owner, with DATABASE_SERVING_ROLE={role}",
            id="database.E010",
        )


def _unreadable() -> list[str]:
    tables = connection.introspection.django_table_names(only_existing=True)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class WHERE oid IN (SELECT to_regclass(quote_ident(name)) "
            "FROM unnest(%s::text[]) AS name) AND NOT has_table_privilege(oid, 'SELECT') ORDER BY relname",
            [tables],
        )
        return [name for (name,) in cursor.fetchall()]


def _setting(name: str) -> int:
    return int(_value(f"SHOW {name}"))


def _value(statement: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]


def _without_password(text: str) -> str:
    password = str(connection.settings_dict.get("PASSWORD") or "")
    line = next(iter(text.strip().splitlines()), "")
    return line.replace(password, "***") if password else line
