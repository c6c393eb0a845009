"""Every row of a tenant, and what of it has changed: a refusal changes nothing."""

from functools import cache
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.db.backends.utils import CursorWrapper

from audit.events import Event
from audit.models import Entry
from tests.support.cast import World


def rows_of(*worlds: World) -> dict[str, list[Any]]:
    """Every row of these tenants, the audit log included: what a refusal must not change."""
    tenants = [world.tenant.pk for world in worlds]
    places = ", ".join(["%s"] * len(tenants))
    with connection.cursor() as cursor:
        return {label: _rows(cursor, sql.format(places), tenants) for label, sql in _tenant_tables().items()}


@cache
def _tenant_tables() -> dict[str, str]:
    """Return the statement that reads the rows of tenants, by model."""
    return {
        model._meta.label: f'SELECT * FROM "{model._meta.db_table}" WHERE tenant_id IN ({{}}){_but(model)} {_order(model)}'  # noqa: E501, S608 - own names
        for model in apps.get_models(include_auto_created=True)
        if any(column.attname == "tenant_id" for column in model._meta.concrete_fields)
    }


def _order(model: type[models.Model]) -> str:
    # The database sorts: the default tenant has thousands of entries when half of the tests have run.
    return "ORDER BY " + ", ".join(f'"{field.column}"' for field in model._meta.pk_fields)


def _but(model: type[models.Model]) -> str:
    return f" AND NOT key = '{Event.ACCESS_REFUSE}'" if model is Entry else ""  # which a refusal leaves


def _rows(cursor: CursorWrapper, sql: str, tenants: list[str]) -> list[Any]:
    cursor.execute(sql, tenants)  # plain, because this runs twice in thousands of tests
    rows: list[Any] = cursor.fetchall()
    return rows


def changed(before: dict[str, list[Any]], after: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """What of the rows is not as it was, by table."""
    return {
        label: [row for row in rows if row not in before[label]]
        + [row for row in before[label] if row not in rows]
        for label, rows in after.items()
        if rows != before[label]
    }
