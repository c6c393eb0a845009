"""Moments as operators read them: the same everywhere, to be compared and sorted by eye."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from django.contrib.admin import display
from django.db import models

Column = str | Callable[[Any], str]


def text(moment: datetime | None) -> str:
    """Return a moment in UTC, to the second."""
    return "-" if moment is None else f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def readable(model: type[models.Model], names: Iterable[Any]) -> tuple[Column, ...]:
    """Return columns of a list or page, those that hold moments in our spelling."""
    dated = {field.name: field for field in model._meta.fields if isinstance(field, models.DateTimeField)}
    return tuple(_column(dated[name]) if name in dated else name for name in names)


def _column(field: Any) -> Callable[[Any], str]:
    @display(description=f"{field.verbose_name.removesuffix(' at').capitalize()} (UTC)", ordering=field.name)
    def shown(row: Any) -> str:
        return text(getattr(row, field.name))

    return shown
