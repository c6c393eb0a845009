"""The content of the console's first page: charts and recent failures of the tenant."""

from typing import Any

from management.site import entry_sentences, statistics
from management.site.charts import chart
from management.site.request_entries import EntryLine


def content(reader: object) -> dict[str, Any]:
    """Return the page's template context for a reader, about the active tenant."""
    figures = statistics.get_statistics()
    plots = [
        chart("sign-ins", "Sign-ins", figures.days, figures.sign_ins),
        chart("failures", "Failed sign-ins", figures.days, figures.failures),
        chart("new-users", "New users", figures.days, figures.new_users),
        chart(
            "active-users", "Active users", figures.days, figures.active_users, total=figures.active_in_total
        ),
        chart("tokens", "Tokens by grant", figures.days, figures.tokens),
    ]
    failures = [
        EntryLine(entry, entry_sentences.sentence(entry)) for entry in statistics.get_latest_failures(reader)
    ]
    return {"plots": plots, "failures": failures, "complete": figures.complete, "since": figures.since}
