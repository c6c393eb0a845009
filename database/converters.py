"""Converters of the columns that compiled statements read.

Django converts each value with several calls of Python functions. Most of these calls are for JSON: an
application has seven such columns.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from django.db import models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.expressions import Col

Converters = Sequence[tuple[int, Callable[[Any], Any]]]
_decoder: Final[Any] = json.JSONDecoder()
_scan: Final = _decoder.scan_once  # what ``json.loads`` calls


def find(compiler: Any, columns: Sequence[Any], database: BaseDatabaseWrapper) -> Converters:
    """Return the converters of a compiled query, each with the place of its column."""
    found = compiler.get_converters(columns)
    return [(place, _join(functions, column, database)) for place, (functions, column) in found.items()]


def convert(rows: Sequence[Any], converters: Converters) -> list[Any]:
    """Return rows with converted values, as ``SQLCompiler.apply_converters`` does."""
    return [_convert(row, converters) for row in rows] if converters else list(rows)


def _convert(row: Sequence[Any], converters: Converters) -> list[Any]:
    values = list(row)
    for place, function in converters:
        values[place] = function(values[place])
    return values


def _join(functions: Sequence[Any], column: Any, database: BaseDatabaseWrapper) -> Callable[[Any], Any]:
    """Return the converter of a column as one function of the value."""
    if database.vendor == "postgresql" and isinstance(column, Col) and _is_plain_json(column.target):
        return _load_json

    def convert_value(value: Any) -> Any:
        for function in functions:
            value = function(value, column, database)
        return value

    return convert_value


def _is_plain_json(field: Any) -> bool:
    return type(field) is models.JSONField and field.decoder is None


def _load_json(text: str | None) -> Any:
    """Return what ``json.loads`` returns for a ``jsonb`` column, whose text has no white space around it."""
    return None if text is None else _scan(text, 0)[0]
