"""The content of the first page: figures, charts and recent failures of the tenant."""

from collections import Counter
from datetime import date
from functools import partial
from math import ceil
from typing import Any, Final

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from audit import daily
from identity.operator_kit import checklist
from identity.operator_kit.numbers import format_number
from management.site import charts, entry_sentences, entry_subjects, figure_cards, health_card, statistics
from management.site.charts import Chart, Subject
from management.site.localized import format_date
from management.site.request_entries import EntryLine
from management.site.statistics import Figures

_DEFAULT_RANGE: Final = 30
_TITLES: Final = {
    "sign_ins": _("Sign-ins"),
    "failures": _("Failed sign-ins"),
    "new_users": _("New users"),
    "active_users": _("Active users"),
    "tokens": _("Tokens by grant"),
}


def content(reader: object, range_: str) -> dict[str, Any]:
    """Return the page's template context for a reader, about the active tenant and a range in days."""
    days = next((days for days in statistics.RANGES if str(days) == range_), _DEFAULT_RANGE)
    figures = statistics.get_statistics(days)
    plots = [plot for name in _TITLES if (plot := _chart(figures, name)).total]
    failed = statistics.get_latest_failures(reader)
    who = entry_subjects.find_subjects(failed, reader)
    failures = [EntryLine(entry, entry_sentences.sentence(entry), who=who[entry.pk]) for entry in failed]
    steps = checklist.get_steps(reader)
    done = sum(step.is_done for step in steps)
    is_set_up = done == len(steps)
    tables = [figure_cards.by_method(figures), figure_cards.by_application(figures)] if plots else []
    return {
        "cards": figure_cards.build_cards(figures),
        "problems": health_card.get_problems(reader),
        "plots": plots,
        "rows": charts.tabulate(plots, figures.spans) if plots else [],
        "unit": gettext("Day") if _has_days(figures) else gettext("Week"),
        "panels": [table for table in tables if table.rows],
        "failures": failures,
        "days": days,
        "ranges": statistics.RANGES,
        "counted_since": format_date(figures.since) if figures.since > figures.first else None,
        "most_entries": daily.MAX_ENTRIES if figures.is_cut else None,
        "steps": [] if is_set_up else steps,
        "cautions": [] if is_set_up else checklist.get_cautions(reader),
        "done": done,
    }


def _chart(figures: Figures, name: str) -> Chart:
    of_series = partial(figure_cards.get_series_filters, name)
    title = str(_TITLES[name])
    label = gettext("%(title)s by day") if _has_days(figures) else gettext("%(title)s by week")
    filters = figure_cards.FILTERS[name]
    subject = Subject(name.replace("_", "-"), title, filters, of_series, label % {"title": title})
    counts = getattr(figures, name)
    if name != "active_users":
        return charts.build(subject, figures.spans, counts)
    # A week shows the average of its days. Their sum would count a user who is active on several days twice.
    average = _average(figures, figures.first, figures.last)
    headline = gettext("%(number)s a day on average") % {"number": format_number(average)}
    averages = {(last, "Active users"): _average(figures, first, last) for first, last in figures.spans}
    return charts.build(subject, figures.spans, Counter(averages), headline=headline)


def _has_days(figures: Figures) -> bool:
    """Return whether a bar is a day, and not a week."""
    first, last = figures.spans[-1]
    return first == last


def _average(figures: Figures, first: date, last: date) -> int:
    """Return the average number of active users, rounded up, of the days that are counted."""
    numbers = [number for (day, _), number in figures.active_users.items() if first <= day <= last]
    return ceil(sum(numbers) / max(1, len(numbers)))
