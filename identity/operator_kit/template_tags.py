"""Template tags of the operators' site, loaded as ``console``."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeData, SafeString

from identity.operator_kit.documentation import get_url
from identity.operator_kit.labels import get_label
from identity.operator_kit.numbers import format_compactly, format_number
from identity.operator_kit.operations import Operation
from identity.operator_kit.timestamps import format_time

register: Final = template.Library()


@register.filter
def label(text: object) -> str:
    """Return a text as a label; HTML stays as it is."""
    return text if isinstance(text, SafeData) else get_label(text)  # type: ignore[return-value]


@register.filter
def with_labels(cells: Iterable[str], headers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the cells of a row of a list, each with the label of its column, which narrow windows show.

    A cell without a value has the attribute ``data-empty``.
    """
    return [_add_label(cell, get_label(header["text"])) for cell, header in zip(cells, headers, strict=True)]


def _add_label(cell: str, text: str) -> str:
    """Return the HTML of a cell, whose first attribute is its class, with the label of its column."""
    is_empty = cell.endswith(">-</td>")
    attributes = format_html(' data-label="{}"{} class=', text, " data-empty" if is_empty else "")
    return cell if "action-checkbox" in cell else SafeString(cell.replace(" class=", attributes, 1))


@register.filter
def initials(username: object) -> str:
    """Return up to two letters that stand for a username."""
    parts = str(username).replace("-", " ").replace("_", " ").replace(".", " ").replace("@", " ").split()
    return "".join(part[0] for part in parts[:2]).upper()


@register.filter
def grouped(number: int) -> str:
    """Return a number with separators between its thousands."""
    return format_number(number)


@register.filter
def compact(number: int) -> str:
    """Return a round number in at most five characters, such as 20k."""
    return format_compactly(number)


@register.filter
def named(choices: Sequence[Any], name: object) -> Any:
    """Return the choice with this name, or the first."""
    return next((choice for choice in choices if choice.name == name), choices[0])


@register.filter
def item(sequence: Sequence[Any], index: int) -> Any:
    """Return the item of a sequence at an index."""
    return sequence[index]


@register.filter
def editing(operations: Iterable[Operation], title: str) -> Operation | None:
    """Return the operation that edits the card with this title, if there is one."""
    return next((operation for operation in operations if operation.edits == title), None)


@register.filter
def timestamp(moment: datetime | None) -> str:
    """Return a timestamp in the reader's time zone."""
    return format_time(moment)


@register.simple_tag
def documentation(page: str) -> str:
    """Return the URL of a page of the documentation; an empty string if it is not published."""
    return get_url(page)


@register.simple_tag
def icon(name: str) -> SafeString:
    """Return an icon of ``gatehouse/icons.svg``, which screen readers skip."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"/></svg>', static("gatehouse/icons.svg"), name
    )
