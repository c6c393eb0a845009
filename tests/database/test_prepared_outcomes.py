"""For every compiled statement and every column, the prepared cursor returns what Django's cursor returns."""

import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import (
    DatabaseError,
    connection,
    models,
    transaction,
)

import config.urls
from database.parameters import _UNCONVERTED, Parameter
from database.statements import Combined, CompiledStatement, Statement
from tests.support.cast import World
from tests.support.prepared_statements import outcome, prepare, run

pytestmark = [
    pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL prepares"),
    pytest.mark.usefixtures("thread"),
]
EXAMPLES: dict[type[Any], Any] = {
    models.UUIDField: UUID(int=7),
    models.DateTimeField: datetime(2026, 11, 24, tzinfo=UTC),
    models.DurationField: timedelta(seconds=90),
    models.BooleanField: True,
    models.JSONField: {"n": [1]},
    models.IntegerField: 7,
    models.CharField: "x",
    models.TextField: "x",
    models.BinaryField: b"x",
}


def example(param: Parameter) -> Any:
    field: Any = param.output_field
    while field.is_relation:
        field = field.target_field
    return next(value for kind, value in EXAMPLES.items() if isinstance(field, kind))


def statements() -> dict[str, Statement[Any]]:
    """All compiled statements of the product, by their names in the code."""
    assert config.urls.urlpatterns  # every module of the server is imported
    roots = ("audit.", "identity.", "interaction.", "management.", "oidc.")
    return {
        f"{module.__name__}.{name}": value
        for module in list(sys.modules.values())
        if getattr(module, "__name__", "").startswith(roots)
        for name, value in vars(module).items()
        if isinstance(value, Statement)
    }


def bound(compiled: CompiledStatement) -> list[Any]:
    parts = compiled.parts if isinstance(compiled, Combined) else [compiled]
    values = [
        {param.name: example(param) for param in part.params if isinstance(param, Parameter)}
        for part in parts
    ]
    return [param for part, named in zip(parts, values, strict=True) for param in part.bind(named)]


def test_every_statement_has_the_same_outcome_both_ways(acme: World, usual):
    database: Any = connection
    compared = {}
    with acme.active():
        for name, statement in statements().items():
            with transaction.atomic():  # where Django compiles statements that lock rows
                compiled = statement.for_this_thread()
                params, found = bound(compiled), []
                run(database, "SELECT 1")
                for opener in ("cursor", "prepared_cursor"):
                    with suppress(DatabaseError), transaction.atomic():
                        prepare(database, compiled.sql, params)
                        usual.clear()
                        found.append(outcome(database, opener, compiled.sql, params))
                        transaction.set_rollback(True)
                    assert (compiled.sql in usual) is (opener == "cursor")
                transaction.set_rollback(True)
            assert found[0] == found[1], name
            compared[name] = found[0]

    assert len(compared) > 30
    assert "oidc.grants.families._of_client" in compared


@pytest.mark.parametrize("field", _UNCONVERTED)
def test_a_value_that_is_not_converted_would_stay_as_it_is(field):
    value = EXAMPLES[field]

    assert type(value) is _UNCONVERTED[field]
    assert field().get_db_prep_save(value, connection) is value


def test_every_column_is_read_the_same_both_ways(acme: World, usual):
    database: Any = connection
    acme.application().tokens_for(acme.user())
    tables = [table for table in database.introspection.table_names() if table != "django_migrations"]
    rows = 0
    for table in tables:
        sql = f'SELECT * FROM "{table}" LIMIT %s'  # noqa: S608 - the name of our table
        prepare(database, sql, [30])
        usual.clear()
        by_name = run(database, sql, 30)
        assert sql not in usual
        by_django = run(database, sql, 30, opener="cursor")
        assert by_name == by_django
        assert [list(map(type, row)) for row in by_name] == [list(map(type, row)) for row in by_django]
        rows += len(by_name)

    assert rows > 30
