"""Panels and cards: what a page has besides fields and forms."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from identity.operator_kit import routes
from identity.operator_kit.texts import Text

_MAX_ROWS: Final = 25
_NONE: Final = _("None.")


@dataclass(frozen=True, slots=True)
class Link:
    """A cell with a link."""

    text: Text
    href: str


@dataclass(frozen=True, slots=True)
class Card:
    """The first part of a page or of its ``section``. ``template`` renders ``content`` as ``card``."""

    template: str
    content: Any
    section: Text = ""


@dataclass(frozen=True, slots=True)
class Values:
    """Labels and values under a title, for the template ``admin/sections.html``.

    ``edit_url`` is empty for those who may not edit. ``level`` is that of the heading.
    """

    title: Text
    edit_url: str
    lines: list[tuple[Text, Any]]
    level: int = 2


@dataclass(frozen=True, slots=True)
class Panel:
    """A short table with a title: rows of other models that belong to a row.

    ``is_cut`` says that there are more rows, which ``more_url`` lists. ``section`` names the section that
    shows the table, if the page has sections. ``note`` is a sentence above the rows. ``operation`` names the
    operation of the page that changes the rows, whose ``button`` is then at the title. ``ends`` names those
    that only end what the rows list, so a page without such rows has no buttons for them.
    """

    title: Text
    headings: tuple[Text, ...]
    rows: list[tuple[Any, ...]]
    is_cut: bool = False
    empty: Text = _NONE
    more_url: str = ""
    section: Text = ""
    note: Text = ""
    operation: str = ""
    ends: tuple[str, ...] = ()
    button: Link | None = None


def build_panel(
    title: Text,
    headings: tuple[Text, ...],
    rows: Any,
    get_cells: Callable[[Any], tuple[Any, ...]],
    **options: Any,
) -> Panel:
    """Return a panel of the first rows of a query, with the options of ``Panel``."""
    found = list(rows[: _MAX_ROWS + 1])
    cells = [get_cells(row) for row in found[:_MAX_ROWS]]
    return Panel(title, headings, cells, is_cut=len(found) > _MAX_ROWS, **options)


def link(row: Model, text: Text = "") -> Link:
    """Return a cell with a link to the page of a row."""
    return Link(text or str(row), routes.row_url(row))
