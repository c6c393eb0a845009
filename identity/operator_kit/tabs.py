"""Tabs of the page of a row: an overview, and the forms of the operations that name a tab."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from identity.operator_kit import routes
from identity.operator_kit.operations import Operation
from identity.operator_kit.texts import Text


@dataclass(frozen=True, slots=True)
class Tab:
    """A link among the tabs."""

    label: Text
    url: str
    is_current: bool


def build_tabs(operations: Iterable[Operation], row: Any, current: Text = "") -> list[Tab]:
    """Return the overview and a tab for each operation that names one; an empty list if no operation does.

    ``operations`` are those that the administrator may run. ``current`` is the label of the open tab, and
    empty for the overview.
    """
    tabs = [
        Tab(one.tab, routes.operation_url(type(row), one.name, row), one.tab == current)
        for one in operations
        if one.tab
    ]
    return [Tab(gettext("Overview"), routes.row_url(row), not current), *tabs] if tabs else []
