"""Stacked bar charts by day, as coordinates. The page draws them as SVG without styles or scripts."""

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Final

WIDTH: Final = 600
HEIGHT: Final = 120
_GAP: Final = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle of a series."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day's bars, and their text for screen readers."""

    date: date
    x: float
    width: float
    bars: list[Bar]
    numbers: list[int]
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart of several series by day."""

    name: str
    title: str
    series: list[tuple[int, str, int]]
    days: list[Day]
    highest: int
    total: int

    @property
    def first(self) -> date:
        return self.days[0].date

    @property
    def last(self) -> date:
        return self.days[-1].date


def chart(
    name: str, title: str, days: list[date], counts: Counter[tuple[date, str]], *, total: int | None = None
) -> Chart:
    """Build a chart from counts by day and series, the largest series first."""
    sums: Counter[str] = Counter()
    for (_, series), number in counts.items():
        sums[series] += number
    names = [series for series, _ in sums.most_common()]
    highest = max((sum(counts[day, series] for series in names) for day in days), default=0)
    bars_by_day = [_day(number, day, names, counts, highest, len(days)) for number, day in enumerate(days)]
    legend = [(number, series, sums[series]) for number, series in enumerate(names)]
    return Chart(name, title, legend, bars_by_day, highest, sums.total() if total is None else total)


def _day(  # noqa: PLR0913, PLR0917 - the parts of a drawing
    number: int, day: date, names: list[str], counts: Counter[tuple[date, str]], highest: int, days: int
) -> Day:
    step = WIDTH / days
    x, width = round(number * step + _GAP / 2, 2), round(step - _GAP, 2)
    bars, top = [], float(HEIGHT)
    numbers = [counts[day, series] for series in names]
    for series, count in enumerate(numbers):
        height = round(HEIGHT * count / highest, 2) if highest else 0.0
        top = round(top - height, 2)
        if count:
            bars.append(Bar(x, top, width, height, series))
    text = ", ".join(f"{series}: {count}" for series, count in zip(names, numbers, strict=True))
    return Day(day, x, width, bars, numbers, f"{day:%Y-%m-%d}: {text or 'none'}")
