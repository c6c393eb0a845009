"""The content of the console's first page: charts and recent failures of the tenant."""

from typing import Any

from management.site import entry_sentences, statistics
from management.site.charts import chart
from management.site.request_entries import EntryLine


def content(reader: object) -> dict[str, Any]:
    """Return the page's template context for a reader, about the active tenant."""
    found = statistics.get_statistics()
    plots = [
        chart("sign-ins", "Sign-ins", found.days, found.sign_ins),
        chart("failures", "Failed sign-ins", found.days, found.failures),
        chart("new-users", "New users", found.days, found.new_users),
        chart("active-users", "Active users", found.days, found.active_users, total=found.active_in_all),
        chart("tokens", "Tokens by grant", found.days, found.tokens),
    ]
    failures = [
        EntryLine(entry, entry_sentences.sentence(entry)) for entry in statistics.latest_failures(reader)
    ]
    return {"plots": plots, "failures": failures, "complete": found.complete, "since": found.since}
