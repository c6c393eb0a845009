"""Triggers that update ``User.factors``: which kinds of factors a user has, as a set of bits.

A sign-in reads the set with the user's row, so no query is needed for users without factors.
The database computes it from the rows, so no code can store a wrong one.
"""

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from django.core.checks import CheckMessage, Error
from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from database.triggers import Triggers, fix_search_path
from identity.users.factor_bits import AUTHENTICATOR, BACKUP_CODE, FIRST_PASSKEY, PASSKEY

# For each table, the columns from which the set is computed.
_SOURCES: Final = {
    "factors_passkey": "is_discoverable, verifies_user, user_id",
    "factors_authenticator": "user_id",
    "factors_backupcode": "used_at, user_id",
}
_FUNCTION: Final = "factors_keep_user_factors"


def _set_of(user: str) -> str:
    """Return the SQL expression of a user's set."""

    def bit(number: int, table: str, condition: str = "") -> str:
        found = f"SELECT 1 FROM {table} AS row WHERE row.user_id = {user}{condition}"  # noqa: S608
        return f"CASE WHEN EXISTS ({found}) THEN {number} ELSE 0 END"

    return " + ".join(
        (
            bit(PASSKEY, "factors_passkey"),
            bit(AUTHENTICATOR, "factors_authenticator"),
            bit(BACKUP_CODE, "factors_backupcode", " AND row.used_at IS NULL"),
            bit(FIRST_PASSKEY, "factors_passkey", " AND row.is_discoverable AND row.verifies_user"),
        )
    )


def _update(user: str) -> str:
    return f"UPDATE users_user SET factors = {_set_of(user)} WHERE id = {user}"  # noqa: S608


# The user's row is locked first. Each statement of the function then has a new snapshot, so of two concurrent
# changes the second sees the rows of the first.
_POSTGRESQL: Final = f"""
CREATE OR REPLACE FUNCTION {_FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN
        PERFORM 1 FROM users_user WHERE id = OLD.user_id FOR NO KEY UPDATE;
        {_update("OLD.user_id")};
    END IF;
    IF TG_OP <> 'DELETE' THEN
        PERFORM 1 FROM users_user WHERE id = NEW.user_id FOR NO KEY UPDATE;
        {_update("NEW.user_id")};
    END IF;
    RETURN NULL;
END $$;
"""


def _statements(vendor: str) -> Iterator[str]:
    """Return the statements that create the triggers."""
    for table, columns in _SOURCES.items():
        if vendor == "postgresql":
            yield (
                f"CREATE OR REPLACE TRIGGER {table}_kept AFTER INSERT OR DELETE OR UPDATE OF {columns} "
                f"ON {table} FOR EACH ROW EXECUTE FUNCTION {_FUNCTION}()"
            )
            continue
        for ending, verb, rows in (
            ("insert", "INSERT", ("NEW",)),
            ("delete", "DELETE", ("OLD",)),
            ("update", f"UPDATE OF {columns}", ("OLD", "NEW")),
        ):
            updates = " ".join(f"{_update(f'{row}.user_id')};" for row in rows)
            yield f"CREATE TRIGGER IF NOT EXISTS {table}_{ending} AFTER {verb} ON {table} BEGIN {updates} END"


class _UserFactors(Triggers):
    table = "factors_passkey"
    trigger_tables = tuple(_SOURCES)

    def names(self, vendor: str) -> AbstractSet[str]:
        endings = ("kept",) if vendor == "postgresql" else ("insert", "delete", "update")
        return {f"{table}_{ending}" for table in _SOURCES for ending in endings}

    def install(self, connection: BaseDatabaseWrapper) -> None:
        """Create the triggers, and compute the sets of all users who have or had a factor."""
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(_POSTGRESQL)
                fix_search_path(cursor, _FUNCTION)
            for statement in _statements(connection.vendor):
                cursor.execute(statement)
            owners = " OR ".join(f"id IN (SELECT user_id FROM {table})" for table in _SOURCES)  # noqa: S608
            cursor.execute(
                f"UPDATE users_user SET factors = {_set_of('users_user.id')} WHERE factors <> 0 OR {owners}"  # noqa: S608
            )

    def errors(self, databases: Sequence[str] | None) -> list[CheckMessage]:
        """Return an error for each database that lacks triggers."""
        return [
            Error(
                f"second factors may not be asked for: missing triggers {', '.join(sorted(names))}",
                hint="run manage.py migrate, which creates them and computes the factors of users again",
                id="factors.E001",
            )
            for alias in databases or []
            if (names := self.missing(connections[alias]))
        ]


FACTORS: Final = _UserFactors()
