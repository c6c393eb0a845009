"""Panels and cards: what a page has besides fields and forms."""

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
class Card:
    """The first part of a page or of its ``section``. ``template`` renders ``content`` as ``card``."""

    template: str
    content: Any
    section: str = ""


@dataclass(frozen=True, slots=True)
class Panel:
    """A short table with a title: rows of other models that belong to a row.

    ``is_cut`` says that there are more rows, which ``more_url`` lists. ``section`` names the section that
    shows the table, if the page has sections.
    """

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False
    empty: str = "None."
    more_url: str = ""
    section: str = ""


def build_panel(
    title: str,
    headings: tuple[str, ...],
    rows: Any,
    get_cells: Callable[[Any], tuple[Any, ...]],
    **options: str,
) -> Panel:
    """Return a panel of the first rows of a query, with the options ``empty``, ``more_url``, ``section``."""
    found = list(rows[: _MAX_ROWS + 1])
    cells = [get_cells(row) for row in found[:_MAX_ROWS]]
    return Panel(title, headings, cells, is_cut=len(found) > _MAX_ROWS, **options)


def link(row: Model, text: str = "") -> Link:
    """Return a cell with a link to the page of a row."""
    return Link(text or str(row), routes.row_url(row))
