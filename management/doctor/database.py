"""The database: there, new enough, migrated, on time, and with room for all threads."""

import time
from collections.abc import Iterator
from typing import Any, Final

from django.conf import settings
from django.core.checks import CheckMessage, Error, Info, Warning  # noqa: A004 - Django's name
from django.db import Error as DatabaseFailure
from django.db import NotSupportedError, connection

from identity.core.examination import examined, named
from management.observability import health

_CLOCKS_APART: Final = 5
_FOR_MESSAGES: Final = 2  # threads of each worker that send, beside those that serve

_RIGHTS: Final = """
SELECT rolname, rolsuper,
    EXISTS (SELECT FROM pg_class WHERE oid = to_regclass('audit_entry') AND pg_has_role(relowner, 'USAGE')),
    coalesce(has_table_privilege(to_regclass('audit_entry'), 'UPDATE, DELETE, TRUNCATE'), false)
FROM pg_roles WHERE rolname = current_user
"""


@examined
def database() -> Iterator[CheckMessage]:
    """Ask whether it can be reached, and then what it is like."""
    try:
        connection.ensure_connection()
        connection.cursor().close()
    except NotSupportedError as refused:
        yield Error(f"the database is too old: {refused}", hint="upgrade it", id="database.E002")
    except DatabaseFailure as failure:
        yield Error(
            f"the database cannot be reached: {_without_password(str(failure))}",
            hint="check DATABASE_URL: host, port, name, user, password; and that the database runs",
            id="database.E001",
        )
    else:
        yield from _migrations()
        yield from _postgresql() if connection.vendor == "postgresql" else _sqlite()


def _migrations() -> Iterator[CheckMessage]:
    if missing := health.missing_migrations():
        yield Error(
            f"{len(missing)} migrations are not applied, {'.'.join(min(missing))} among them",
            hint="run manage.py migrate, from one place, before servers of this release start",
            id="database.E005",
        )


def _sqlite() -> Iterator[CheckMessage]:
    if not settings.DEVELOPMENT:
        yield Warning(
            "production runs on SQLite: one machine, one writer at a time",
            hint="for more than one small machine set DATABASE_URL to PostgreSQL (docs/deployment.md)",
            id="database.W004",
        )


def _postgresql() -> Iterator[CheckMessage]:
    room = _setting("max_connections") - _setting("superuser_reserved_connections")
    needed = settings.WEB_CONCURRENCY * (settings.DATABASE_POOL or settings.THREADS + _FOR_MESSAGES)
    if needed > room:
        yield Warning(
            f"this node may open {needed} connections, and PostgreSQL lets in {room} of everybody's",
            hint="set DATABASE_POOL, lower WEB_CONCURRENCY or THREADS, or raise max_connections; "
            "count every node",
            id="database.W003",
        )
    apart = abs(float(_value("SELECT extract(epoch FROM clock_timestamp())")) - time.time())
    if apart > _CLOCKS_APART:
        yield Warning(
            f"the clock of this machine and that of the database are {int(apart)} seconds apart",
            hint="let both follow a time server (chrony, systemd-timesyncd): tokens are dated",
            id="database.W006",
        )
    yield from _role()


def _role() -> Iterator[CheckMessage]:
    """Look at what the role of this node may do to the audit log."""
    with connection.cursor() as cursor:
        cursor.execute(_RIGHTS)
        role, is_superuser, is_owner, can_change = cursor.fetchone()
    if is_superuser and not settings.DEVELOPMENT:
        yield Warning(
            f"this node connects as {role}, a superuser: a flaw in one statement would open the whole server",
            hint="serve with a role of its own (docs/deployment.md, Two database roles)",
            id="database.W007",
        )
    elif is_owner:
        yield Info(
            f"this node connects as {role}, which owns the audit log and could switch its triggers off",
            hint="serve with a role of its own (docs/deployment.md, Two database roles)",
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
            f"this node connects as {role}, which may not read {named(unreadable)}",
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
