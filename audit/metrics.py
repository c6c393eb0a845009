"""The Prometheus counter of audit entries, without labels that identify users or tenants."""

from typing import Final

from prometheus_client import Counter

ENTRIES: Final = Counter(
    "gatehouse_events", "Entries of the audit log, by their key and result.", ["key", "result"]
)
