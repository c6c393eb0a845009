"""How often what happened, for Prometheus: without a word about whom."""

from typing import Final

from prometheus_client import Counter

ENTRIES: Final = Counter(
    "gatehouse_events", "Entries of the audit log, by their key and result.", ["key", "result"]
)
