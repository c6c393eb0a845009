"""Stacked bar charts over time, as coordinates. The page draws them as SVG without styles or scripts."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final

from django.utils.translation import gettext

from identity.operator_kit.numbers import format_number
from management.site.localized import format_day
from management.site.log_filters import log_url

WIDTH: Final = 560
LEFT: Final = 40
TOP: Final = 8
HEIGHT: Final = 130  # of the area with the bars
_MOST_LINES: Final = 4
_GAP: Final = 0.25  # the part of a bar's slot that stays empty
_MAX_BAR: Final = 36
_MOST_LABELS: Final = 7
_STEPS: Final = (1, 2, 5)

Span = tuple[date, date]


@dataclass(frozen=True, slots=True)
class Column:
    """A day or a week: its labels, the x coordinate of its middle, and its number in each series."""

    label: str
    middle: float
    numbers: list[int]
    axis_label: str


@dataclass(frozen=True, slots=True)
class Line:
    """A gridline: its y coordinate, and its number at the axis."""

    y: float
    number: int


@dataclass(frozen=True, slots=True)
class Series:
    """A series: the SVG path of its bars, and its name, total and link in the legend."""

    index: int
    name: str
    total: int
    href: str
    path: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of several series over time. ``headline`` is its most important number.

    ``href`` is the URL of the log's entries. A script replaces its days by those of the bar that is clicked.
    """

    name: str
    title: str
    label: str
    headline: str
    bar_width: float
    series: list[Series]
    columns: list[Column]
    lines: list[Line]
    total: int
    href: str


@dataclass(frozen=True, slots=True)
class Row:
    """A day or a week with the numbers of several charts, and the URL of all its entries."""

    label: str
    href: str
    numbers: list[int]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a chart shows. ``filters`` find its entries in the log, and ``of_series`` those of one series.

    ``label`` is the title with the unit of time.
    """

    name: str
    title: str
    filters: Mapping[str, str]
    of_series: Callable[[str], Mapping[str, str]] = lambda _: {}
    label: str = ""


def build(
    subject: Subject, spans: Sequence[Span], counts: Counter[tuple[date, str]], *, headline: str = ""
) -> Chart:
    """Build a chart from counts by day and series, the largest series first. Series have English names."""
    sums: Counter[str] = Counter()
    sums_of_spans: list[Counter[str]] = [Counter() for _ in spans]
    for (day, series), number in counts.items():
        sums[series] += number
        place = next((index for index, (_, last) in enumerate(spans) if day <= last), None)
        if place is not None:
            sums_of_spans[place][series] += number
    names = [series for series, _ in sums.most_common()]
    highest = max((counter.total() for counter in sums_of_spans), default=0)
    step, top = _scale(highest)
    lines = [Line(_y(number, top), number) for number in range(0, top + 1, step)]
    numbers = [[counter[name] for name in names] for counter in sums_of_spans]
    columns = [_column(spans, index, numbers[index]) for index in range(len(spans))]
    paths = _draw(numbers, columns, len(names), top)
    whole = spans[0][0], spans[-1][1]
    legend = [
        Series(
            index,
            gettext(name),
            sums[name],
            log_url(*whole, {**subject.filters, **subject.of_series(name)}),
            path,
        )
        for index, (name, path) in enumerate(zip(names, paths, strict=True))
    ]
    total, href = sums.total(), log_url(*whole, subject.filters)
    width = round(min((WIDTH - LEFT) / len(spans) * (1 - _GAP), _MAX_BAR), 1)
    return Chart(
        subject.name, subject.title, subject.label, headline or format_number(total), width, legend, columns,
        lines, total, href,
    )  # fmt: skip


def tabulate(charts: Sequence[Chart], spans: Sequence[Span]) -> list[Row]:
    """Return the numbers of charts as the rows of one table: five tables would have five links a day."""
    return [
        Row(_label(*span), log_url(*span, {}), [n for chart in charts for n in chart.columns[index].numbers])
        for index, span in enumerate(spans)
    ]


def _label(first: date, last: date) -> str:
    return f"{first}" if first == last else gettext("%(first)s to %(last)s") % {"first": first, "last": last}


def _draw(numbers: list[list[int]], columns: Sequence[Column], series: int, top: int) -> list[str]:
    """Return for each series the path of its bars, which are lines on those of the series before."""
    paths = [""] * series
    for of_column, column in zip(numbers, columns, strict=True):
        reached = 0
        for place, number in enumerate(of_column):
            reached += number
            if number:
                paths[place] += f"M{column.middle:g} {_y(reached, top):g}v{round(HEIGHT * number / top, 1):g}"
    return paths


def _column(spans: Sequence[Span], index: int, numbers: list[int]) -> Column:
    step = (WIDTH - LEFT) / len(spans)
    first, last = spans[index]
    every = -(-len(spans) // _MOST_LABELS)
    has_label = (len(spans) - 1 - index) % every == 0
    return Column(
        label=_label(first, last),
        middle=round(LEFT + (index + 0.5) * step, 1),
        numbers=numbers,
        axis_label=format_day(first) if has_label else "",
    )


def _scale(highest: int) -> tuple[int, int]:
    """Return the distance of gridlines, which is 1, 2 or 5 times a power of ten, and the end of the axis."""
    power = 1
    while True:
        for step in (power * factor for factor in _STEPS):
            if step * _MOST_LINES >= highest:
                return step, max(step, -(-highest // step) * step)
        power *= 10


def _y(number: int, top: int) -> float:
    return round(TOP + HEIGHT * (1 - number / top), 1)
