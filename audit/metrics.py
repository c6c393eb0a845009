"""The Prometheus counter of audit entries, without labels that identify users or tenants."""

from typing import Final

from prometheus_client import Counter

from audit.events import Event

ENTRIES: Final = Counter(
    "gatehouse_events", "Entries of the audit log, by their key and result.", ["key", "result"]
)

# A series that appears only with its first event gives no alarm for this event.
for _event in Event:
    for _result in ("success", "failed"):
        ENTRIES.labels(_event.value, _result)
