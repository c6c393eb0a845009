"""Triggers that keep the number of each tenant's users, on both engines.

Whoever counts waits for nobody: on PostgreSQL a statement takes any row of its tenant that is
free, or makes another. There come to be as many as there ever were writers at one moment.
"""

from typing import Final

from django.db import connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

_COUNTED: Final = "users_user"
_TABLE: Final = "users_usercount"

_POSTGRESQL: Final = f"""
CREATE OR REPLACE FUNCTION {_TABLE}_keep() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    change record;
    sign int := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    FOR change IN SELECT tenant_id, count(*) AS users FROM changed GROUP BY tenant_id LOOP
        UPDATE {_TABLE} SET users = users + sign * change.users WHERE id = (
            SELECT id FROM {_TABLE} WHERE tenant_id = change.tenant_id LIMIT 1 FOR UPDATE SKIP LOCKED);
        IF NOT FOUND THEN
            INSERT INTO {_TABLE} (tenant_id, users) VALUES (change.tenant_id, sign * change.users);
        END IF;
    END LOOP;
    RETURN NULL;
END $$;
CREATE OR REPLACE FUNCTION {_TABLE}_forget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM {_TABLE};
    ELSE
        DELETE FROM {_TABLE} WHERE tenant_id = OLD.id;
    END IF;
    RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER {_COUNTED}_count_insert AFTER INSERT ON {_COUNTED} REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {_TABLE}_keep();
CREATE OR REPLACE TRIGGER {_COUNTED}_count_delete AFTER DELETE ON {_COUNTED} REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT EXECUTE FUNCTION {_TABLE}_keep();
CREATE OR REPLACE TRIGGER {_COUNTED}_count_truncate AFTER TRUNCATE ON {_COUNTED}
    FOR EACH STATEMENT EXECUTE FUNCTION {_TABLE}_forget();
CREATE OR REPLACE TRIGGER {_COUNTED}_count_forget AFTER DELETE ON tenants_tenant
    FOR EACH ROW EXECUTE FUNCTION {_TABLE}_forget();
"""  # noqa: S608 - no outside value

# One writer at a time: one row a tenant.
_SQLITE: Final = (
    f"""CREATE TRIGGER IF NOT EXISTS {_COUNTED}_count_insert AFTER INSERT ON {_COUNTED} BEGIN
    INSERT INTO {_TABLE} (tenant_id, users) SELECT NEW.tenant_id, 0
        WHERE NOT EXISTS (SELECT 1 FROM {_TABLE} WHERE tenant_id = NEW.tenant_id);
    UPDATE {_TABLE} SET users = users + 1 WHERE tenant_id = NEW.tenant_id; END""",  # noqa: S608
    f"""CREATE TRIGGER IF NOT EXISTS {_COUNTED}_count_delete AFTER DELETE ON {_COUNTED} BEGIN
    UPDATE {_TABLE} SET users = users - 1 WHERE tenant_id = OLD.tenant_id; END""",  # noqa: S608
    f"""CREATE TRIGGER IF NOT EXISTS {_COUNTED}_count_forget AFTER DELETE ON tenants_tenant BEGIN
    DELETE FROM {_TABLE} WHERE tenant_id = OLD.id; END""",  # noqa: S608
)

_ENDINGS: Final = {
    "postgresql": {"insert", "delete", "truncate", "forget"},
    "sqlite": {"insert", "delete", "forget"},
}


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers, and count what there is: nobody writes between the one and the other."""
    with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
        for statement in [_POSTGRESQL] if connection.vendor == "postgresql" else _SQLITE:
            cursor.execute(statement)
        cursor.execute(f"DELETE FROM {_TABLE}")  # noqa: S608 - our own name, as below
        cursor.execute(
            f"INSERT INTO {_TABLE} (tenant_id, users)"  # noqa: S608
            f" SELECT tenant_id, count(*) FROM {_COUNTED} GROUP BY tenant_id"
        )


def missing(connection: BaseDatabaseWrapper) -> set[str]:
    """Return the names of the triggers that are not there; nothing without the table."""
    if _TABLE not in connection.introspection.table_names():
        return set()
    query = (
        "SELECT tgname FROM pg_trigger WHERE tgenabled <> 'D'"
        " AND tgrelid IN ('users_user'::regclass, 'tenants_tenant'::regclass)"
        if connection.vendor == "postgresql"
        else "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    )
    with connection.cursor() as cursor:
        cursor.execute(query)
        there = {name for (name,) in cursor.fetchall()}
    return {f"{_COUNTED}_count_{ending}" for ending in _ENDINGS[connection.vendor]} - there


def after_migrate(*, using: str, **_: object) -> None:
    """Create what is not there: SQLite drops triggers when it rebuilds a table."""
    connection = connections[using]
    if missing(connection):
        install(connection)
