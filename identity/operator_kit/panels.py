"""Panels: short tables on the page of a row, with the rows of other models that belong to it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Model

from identity.operator_kit import routes

_MAX_ROWS: Final = 25


@dataclass(frozen=True, slots=True)
class Link:
    """A cell with a link."""

    text: str
    href: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A table with a title. ``is_cut`` says that there are more rows, which ``more_url`` lists."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False
    empty: str = "None."
    more_url: str = ""


def build_panel(
    title: str,
    headings: tuple[str, ...],
    rows: Any,
    get_cells: Callable[[Any], tuple[Any, ...]],
    **options: str,
) -> Panel:
    """Return a panel of the first rows of a query. The options are ``empty`` and ``more_url``."""
    found = list(rows[: _MAX_ROWS + 1])
    cells = [get_cells(row) for row in found[:_MAX_ROWS]]
    return Panel(title, headings, cells, is_cut=len(found) > _MAX_ROWS, **options)


def link(row: Model, text: str = "") -> Link:
    """Return a cell with a link to the page of a row."""
    return Link(text or str(row), routes.row_url(row))
