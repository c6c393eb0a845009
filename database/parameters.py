"""Named parameters of compiled statements: see ``database.statements``."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper

Values = Mapping[str, Any]
Source = Callable[[Values], Any]  # computes a parameter from the values of a run

# By the type of a field, the type of the values that the field does not convert for PostgreSQL.
_UNCONVERTED: Final[Mapping[type[Any], type[Any]]] = {
    models.BooleanField: bool,
    models.CharField: str,
    models.DateTimeField: datetime,
    models.DurationField: timedelta,
    models.TextField: str,
    models.UUIDField: UUID,
}


class Parameter(models.Expression):
    """A named parameter of a statement. Each run supplies its value."""

    def __init__(self, name: str, output_field: "models.Field[Any, Any]") -> None:
        super().__init__(output_field=output_field)
        self.name = name

    def as_sql(self, compiler: object, connection: BaseDatabaseWrapper) -> Any:
        """Compile to a placeholder. Its parameter is this object, which ``bind`` replaces by a value."""
        return "%s", [self]


def _get_kind(field: Any) -> type[Any]:
    while field.is_relation:
        field = field.target_field
    return type(field)


def source_of(param: Parameter, database: BaseDatabaseWrapper) -> Source:
    """Return the function that computes a parameter as the database adapter expects it."""
    name, convert = param.name, param.output_field.get_db_prep_save
    unconverted = _UNCONVERTED.get(_get_kind(param.output_field)) if database.vendor == "postgresql" else None

    def source(values: Values) -> Any:
        value = values[name]
        return value if value is None or type(value) is unconverted else convert(value, database)

    return source
