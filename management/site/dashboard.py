"""The content of the first page: figures, charts and recent failures of the tenant."""

from collections import Counter
from datetime import date
from functools import partial
from math import ceil
from typing import Any, Final

from audit import daily
from identity.operator_kit import checklist
from management.site import charts, entry_sentences, entry_subjects, figure_cards, health_card, statistics
from management.site.charts import Chart, Subject
from management.site.request_entries import EntryLine
from management.site.statistics import Figures

_DEFAULT_RANGE: Final = 30
_TITLES: Final = {
    "sign_ins": "Sign-ins",
    "failures": "Failed sign-ins",
    "new_users": "New users",
    "active_users": "Active users",
    "tokens": "Tokens by grant",
}


def content(reader: object, range_: str) -> dict[str, Any]:
    """Return the page's template context for a reader, about the active tenant and a range in days."""
    days = next((days for days in statistics.RANGES if str(days) == range_), _DEFAULT_RANGE)
    figures = statistics.get_statistics(days)
    plots = [plot for name in _TITLES if (plot := _chart(figures, name)).total]
    failed = statistics.get_latest_failures(reader)
    who = entry_subjects.find_subjects(failed)
    failures = [EntryLine(entry, entry_sentences.sentence(entry), who=who[entry.pk]) for entry in failed]
    steps = checklist.get_steps(reader)
    done = sum(step.is_done for step in steps)
    tables = [figure_cards.by_method(figures), figure_cards.by_application(figures)] if plots else []
    return {
        "cards": figure_cards.build_cards(figures),
        "problems": health_card.get_problems(reader),
        "plots": plots,
        "rows": charts.tabulate(plots, figures.spans) if plots else [],
        "unit": "Day" if figures.spans[-1][0] == figures.spans[-1][1] else "Week",
        "panels": [table for table in tables if table.rows],
        "failures": failures,
        "days": days,
        "ranges": statistics.RANGES,
        "counted_since": figures.since if figures.since > figures.first else None,
        "most_entries": daily.MAX_ENTRIES if figures.is_cut else None,
        "steps": steps if done < len(steps) else [],
        "done": done,
    }


def _chart(figures: Figures, name: str) -> Chart:
    of_series = partial(figure_cards.get_series_filters, name)
    subject = Subject(name.replace("_", "-"), _TITLES[name], figure_cards.FILTERS[name], of_series)
    counts = getattr(figures, name)
    if name != "active_users":
        return charts.build(subject, figures.spans, counts)
    # A week shows the average of its days. Their sum would count a user who is active on several days twice.
    headline = f"{_average(figures, figures.first, figures.last):,} a day"
    averages = {(last, "Active users"): _average(figures, first, last) for first, last in figures.spans}
    return charts.build(subject, figures.spans, Counter(averages), headline=headline)


def _average(figures: Figures, first: date, last: date) -> int:
    """Return the average number of active users, rounded up, of the days that are counted."""
    numbers = [number for (day, _), number in figures.active_users.items() if first <= day <= last]
    return ceil(sum(numbers) / max(1, len(numbers)))
