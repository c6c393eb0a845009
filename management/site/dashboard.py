"""The first page: how the tenant is doing."""

from typing import Any

from management.site import figures, words
from management.site.charts import chart
from management.site.why import Told


def content(reader: object) -> dict[str, Any]:
    """Return what the page shows somebody of the active tenant."""
    found = figures.of_tenant()
    plots = [
        chart("sign-ins", "Sign-ins", found.days, found.sign_ins),
        chart("failures", "Failed sign-ins", found.days, found.failures),
        chart("new-users", "New users", found.days, found.new_users),
        chart("active-users", "Active users", found.days, found.active_users, total=found.active_in_all),
        chart("tokens", "Tokens by grant", found.days, found.tokens),
    ]
    failures = [Told(entry, words.sentence(entry)) for entry in figures.latest_failures(reader)]
    return {"plots": plots, "failures": failures, "complete": found.complete, "since": found.since}
