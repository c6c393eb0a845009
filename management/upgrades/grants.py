"""The rights of the database role with which nodes serve, if it differs from the role that migrates."""

from typing import Final

from django.core.management import CommandError
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from audit import privileges

_EVERY_TABLE: Final = "SELECT, INSERT, UPDATE, DELETE"
_EXCEPTIONS: Final = privileges.SERVING | {"django_migrations": "SELECT"}


def grant(connection: BaseDatabaseWrapper, role: str) -> None:
    """Grant a role the rights that a serving node needs, and revoke all its other rights on these tables.

    Raises:
        CommandError: the role does not exist, or has rights that REVOKE cannot remove.

    """
    tables = connection.introspection.django_table_names(only_existing=True)
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        _check(connection, role)
        name = connection.ops.quote_name(role)
        for table in {*tables, *_EXCEPTIONS}:
            quoted = connection.ops.quote_name(table)
            cursor.execute(f"REVOKE ALL ON {quoted} FROM {name}")
            cursor.execute(f"GRANT {_EXCEPTIONS.get(table, _EVERY_TABLE)} ON {quoted} TO {name}")


def _check(connection: BaseDatabaseWrapper, role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rolsuper, pg_has_role(rolname, current_user, 'MEMBER') FROM pg_roles WHERE rolname = %s",
            [role],
        )
        row = cursor.fetchone()
    if row is None:
        raise CommandError(f"DATABASE_SERVING_ROLE: the database has no role {role} (docs/deployment.md)")
    if any(row):
        raise CommandError(
            f"DATABASE_SERVING_ROLE: {role} is a superuser, or has the rights of the role that migrates: "
            "use a separate role for serving (docs/deployment.md)"
        )
