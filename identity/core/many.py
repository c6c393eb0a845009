"""Long lists of ids, which the database takes as one value.

A parameter for each, or an object for each row, costs as much as all the rest of a request.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import orjson
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Lookup, Q, QuerySet
from django.db.models.lookups import In

from database import ids
from identity.core import tenancy
from identity.core.models import Link


class Among(Lookup):
    """Whether a column has one of these ids."""

    prepare_rhs = False
    lookup_name = "among"

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        """Write it for the engine at hand."""
        if not self.rhs:
            raise EmptyResultSet
        sql, params = self.process_lhs(compiler, connection)
        if connection.vendor == "postgresql":
            return f"{sql} = ANY(%s::uuid[])", [*params, _array(self.rhs)]
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*params, _json(self.rhs)]  # noqa: S608 - no outside value


class AmongSelected(In):
    """Whether a column has one of the ids that a query selects.

    PostgreSQL looks each of them up, however many it expects: for ``IN`` it may read a whole table instead,
    which takes several times as long.
    """

    def get_rhs_op(self, connection: BaseDatabaseWrapper, rhs: str) -> str:
        """Write it for the engine at hand."""
        return f"= ANY(ARRAY{rhs})" if connection.vendor == "postgresql" else f"IN {rhs}"


def among(column: str, pks: Iterable[UUID]) -> Q:
    """Return the condition that a column has one of these ids."""
    return Q(Among(F(column), tuple(pks)))


def among_selected(column: str, selected: QuerySet[Any, Any]) -> Q:
    """Return the condition that a column has one of the ids that a query for one column selects."""
    return Q(AmongSelected(F(column), selected.query))


def link(model: type[Link], parent: str, parent_id: UUID, item: str, items: Sequence[UUID]) -> None:
    """Insert a link from a parent to each of these items, in this order; those that are there stay.

    ``parent`` and ``item`` name the link's foreign keys.
    """
    if not items:
        return
    names, new = f"id, tenant_id, {parent}_id, {item}_id", [ids.new() for _ in items]
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                f"INSERT INTO {model._meta.db_table} ({names}) SELECT new.id, %s, %s, new.item"  # noqa: S608
                " FROM UNNEST(%s::uuid[], %s::uuid[]) AS new (id, item) ON CONFLICT DO NOTHING",
                [tenancy.active_id(), parent_id, _array(new), _array(items)],
            )
            return
        pairs = orjson.dumps([[pk.hex, end.hex] for pk, end in zip(new, items, strict=True)]).decode()
        cursor.execute(
            f"INSERT OR IGNORE INTO {model._meta.db_table} ({names})"  # noqa: S608 - names of our own
            " SELECT json_extract(value, '$[0]'), %s, %s, json_extract(value, '$[1]') FROM json_each(%s)",
            [tenancy.active_id(), parent_id.hex, pairs],
        )


def _array(pks: Iterable[UUID]) -> str:
    return f"{{{','.join([pk.hex for pk in pks])}}}"


def _json(pks: Iterable[UUID]) -> str:
    return orjson.dumps([pk.hex for pk in pks]).decode()
