"""The buttons of panels, which the page of a row does not show a second time."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from identity.operator_kit.operations import Operation
from identity.operator_kit.panels import Link, Panel

_Links = list[tuple[Operation, str]]


def place(panels: Iterable[Panel], links: Sequence[tuple[Operation, str]]) -> tuple[list[Panel], _Links]:
    """Return the panels with the buttons of their operations, and the links that are left for the page.

    Operations that only end the rows of a panel are left out while it has none.
    """
    panels = list(panels)
    buttons = {operation.name: Link(operation.label, url) for operation, url in links}
    placed = [
        replace(panel, button=buttons[panel.operation]) if panel.operation in buttons else panel
        for panel in panels
    ]
    idle = {name for panel in panels if not panel.rows for name in panel.ends}
    used = {panel.operation for panel in panels} | idle
    return placed, [link for link in links if link[0].name not in used]
