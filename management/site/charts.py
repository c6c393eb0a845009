"""Stacked bars a day, as plain shapes: the page draws them as SVG without a line of style or script."""

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import Final

WIDTH: Final = 600
HEIGHT: Final = 120
_GAP: Final = 4


@dataclass(frozen=True, slots=True)
class Bar:
    """A rectangle, of the series of that number."""

    x: float
    y: float
    width: float
    height: float
    series: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day's bars, and what they say."""

    date: date
    x: float
    width: float
    bars: list[Bar]
    numbers: list[int]
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot: by day, in several series."""

    name: str
    title: str
    series: list[tuple[int, str, int]]
    days: list[Day]
    highest: int
    total: int

    @property
    def first(self) -> date:
        """The first day."""
        return self.days[0].date

    @property
    def last(self) -> date:
        """The last day."""
        return self.days[-1].date


def chart(
    name: str, title: str, days: list[date], counts: Counter[tuple[date, str]], *, total: int | None = None
) -> Chart:
    """Draw counts by day and series, the series in the order of their sizes."""
    sums: Counter[str] = Counter()
    for (_, series), number in counts.items():
        sums[series] += number
    names = [series for series, _ in sums.most_common()]
    highest = max((sum(counts[day, series] for series in names) for day in days), default=0)
    drawn = [_day(number, day, names, counts, highest, len(days)) for number, day in enumerate(days)]
    legend = [(number, series, sums[series]) for number, series in enumerate(names)]
    return Chart(name, title, legend, drawn, highest, sums.total() if total is None else total)


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
    said = ", ".join(f"{series}: {count}" for series, count in zip(names, numbers, strict=True))
    return Day(day, x, width, bars, numbers, f"{day:%Y-%m-%d}: {said or 'none'}")
