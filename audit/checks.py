"""A check that fails while the log could be changed."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004 - Django's name
from django.db import connections

from audit import count_triggers, triggers


@register(Tags.database, "doctor")
def audit_log_is_append_only(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Report triggers that are missing from the audit table."""
    return [
        Error(
            f"the audit log can be changed: missing triggers {', '.join(sorted(names))}",
            hint="run manage.py migrate: it creates them again; then look who took them away",
            id="audit.E001",
        )
        for alias in databases or []
        if (names := triggers.APPEND_ONLY.missing(connections[alias]))
    ]


@register("doctor")
def entries_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Report triggers without which the total of the log may be wrong."""
    return [
        Warning(
            f"entries are not counted as they come late or go: missing triggers {', '.join(sorted(names))}",
            hint="run manage.py migrate: it creates them, and counts anew",
            id="audit.W002",
        )
        for alias in databases or []
        if (names := count_triggers.LATE_ENTRIES.missing(connections[alias]))
    ]
