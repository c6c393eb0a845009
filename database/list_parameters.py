"""Long lists of ids or texts, sent to the database as one parameter.

One parameter for each id would take as much time as the rest of the request.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import orjson
from django.core.exceptions import EmptyResultSet
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import F, Lookup, Q, QuerySet, TextField
from django.db.models.lookups import In

from database.parameters import Parameter


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


class AmongTexts(Lookup):
    """Whether a column has one of the texts of a ``Parameter`` whose field is ``TextList``."""

    prepare_rhs = False
    lookup_name = "among_texts"

    def as_sql(self, compiler: Any, connection: BaseDatabaseWrapper) -> Any:
        """Compile for PostgreSQL or SQLite."""
        sql, params = self.process_lhs(compiler, connection)
        if connection.vendor == "postgresql":
            return f"{sql} = ANY(%s::text[])", [*params, self.rhs]
        return f"{sql} IN (SELECT value FROM json_each(%s))", [*params, self.rhs]  # noqa: S608 - no outside value


class TextList(TextField):  # type: ignore[type-arg]  # it is not generic at run time
    """A list of texts as the parameter of a statement."""

    def get_db_prep_save(self, value: Iterable[str], connection: BaseDatabaseWrapper) -> str:
        """Return an array literal for PostgreSQL, and a JSON array for SQLite."""
        if connection.vendor == "postgresql":
            return f"{{{','.join(map(_quote, value))}}}"
        return orjson.dumps(list(value)).decode()


def _quote(text: str) -> str:
    """Return a text as an element of an array literal."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


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


def among_texts(column: str, texts: Parameter) -> Q:
    """Return the condition that a column has one of the texts of a parameter."""
    return Q(AmongTexts(F(column), texts))


def among_selected(column: str, selected: QuerySet[Any, Any]) -> Q:
    """Return the condition that a column has one of the ids that a query selects."""
    return Q(AmongSelected(F(column), selected.query))


def as_array(pks: Iterable[UUID]) -> str:
    """Return ids as a PostgreSQL array literal."""
    return f"{{{','.join([pk.hex for pk in pks])}}}"


def as_json(pks: Iterable[UUID]) -> str:
    """Return ids as a JSON array, in the form that SQLite stores."""
    return orjson.dumps([pk.hex for pk in pks]).decode()
