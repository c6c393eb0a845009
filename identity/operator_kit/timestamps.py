"""Timestamps in one format, in UTC, so that operators can compare and sort them by eye."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from django.contrib.admin import display
from django.db import models

Column = str | Callable[[Any], str]


def format_utc(timestamp: datetime | None) -> str:
    """Return a timestamp in UTC, to the second; a dash for none."""
    return "-" if timestamp is None else f"{timestamp.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def format_columns(model: type[models.Model], names: Iterable[Any]) -> tuple[Column, ...]:
    """Return the columns of a list or page, with a function for each that is a timestamp."""
    fields = {field.name: field for field in model._meta.fields if isinstance(field, models.DateTimeField)}
    return tuple(_column(fields[name]) if name in fields else name for name in names)


def _column(field: Any) -> Callable[[Any], str]:
    @display(description=f"{field.verbose_name.removesuffix(' at').capitalize()} (UTC)", ordering=field.name)
    def timestamp(row: Any) -> str:
        return format_utc(getattr(row, field.name))

    return timestamp
