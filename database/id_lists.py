"""Long lists of ids, sent to the database as one parameter.

One parameter for each id would take as much time as the rest of the request.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import orjson
from django.core.exceptions import EmptyResultSet
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Lookup, Q, QuerySet
from django.db.models.lookups import In


class Among(Lookup):
    """Whether a column has one of these ids."""

    prepare_rhs = False
    lookup_name = "among"

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        """Compile for PostgreSQL or SQLite."""
        if not self.rhs:
            raise EmptyResultSet
        sql, params = self.process_lhs(compiler, connection)
        if connection.vendor == "postgresql":
            return f"{sql} = ANY(%s::uuid[])", [*params, as_array(self.rhs)]
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*params, as_json(self.rhs)]  # noqa: S608 - no outside value


class AmongSelected(In):
    """Whether a column has one of the ids that a query selects.

    PostgreSQL looks up each id in the index. For ``IN`` it may scan the whole table if it expects many ids,
    which takes several times as long.
    """

    def get_rhs_op(self, connection: BaseDatabaseWrapper, rhs: str) -> str:
        """Compile for PostgreSQL or SQLite."""
        return f"= ANY(ARRAY{rhs})" if connection.vendor == "postgresql" else f"IN {rhs}"


def among(column: str, pks: Iterable[UUID]) -> Q:
    """Return the condition that a column has one of these ids."""
    return Q(Among(F(column), tuple(pks)))


def among_selected(column: str, selected: QuerySet[Any, Any]) -> Q:
    """Return the condition that a column has one of the ids that a query selects."""
    return Q(AmongSelected(F(column), selected.query))


def as_array(pks: Iterable[UUID]) -> str:
    """Return ids as a PostgreSQL array literal."""
    return f"{{{','.join([pk.hex for pk in pks])}}}"


def as_json(pks: Iterable[UUID]) -> str:
    """Return ids as a JSON array, in the form that SQLite stores."""
    return orjson.dumps([pk.hex for pk in pks]).decode()
