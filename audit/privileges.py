"""What a database role that serves requests may do with the tables of the log, and no more."""

from typing import Final

# By table. ``Entry`` is append-only. Only ``audit.retention``, which the owner runs, sets ``at_work``.
# Triggers write to the two tables of numbers as their owner; ``audit.counting`` needs what is granted here.
SERVING: Final = {
    "audit_entry": "SELECT, INSERT",
    "audit_retention": "SELECT, INSERT, UPDATE (days), DELETE",
    "audit_counted": "SELECT, INSERT, UPDATE",
    "audit_stretch": "SELECT, INSERT",
}
