"""The rights that the database role of serving nodes has on the tables of the log."""

from typing import Final

# By table. Entries are append-only. Only ``audit.retention``, which the owner runs, sets ``at_work``.
# Triggers write to the two count tables as their owner; ``audit.counting`` needs the rights given here.
SERVING: Final = {
    "audit_entry": "SELECT, INSERT",
    "audit_retention": "SELECT, INSERT, UPDATE (days), DELETE",
    "audit_counted": "SELECT, INSERT, UPDATE",
    "audit_stretch": "SELECT, INSERT",
    "audit_day": "SELECT, INSERT, DELETE",
}
