"""Checks that the triggers of the audit log exist."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error, Tags, Warning, register  # noqa: A004 - Django's name
from django.db import connections

from audit import count_triggers, triggers


@register(Tags.database, "doctor")
def audit_log_is_append_only(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return an error if a trigger that makes the log append-only is missing."""
    return [
        Error(
            f"the audit log can be changed: missing triggers {', '.join(sorted(names))}",
            hint="run manage.py migrate, which creates them again; then find out who dropped them",
            id="audit.E001",
        )
        for alias in databases or []
        if (names := triggers.APPEND_ONLY.missing(connections[alias]))
    ]


@register("doctor")
def entries_are_counted(*, databases: Sequence[str] | None = None, **_: object) -> list[CheckMessage]:
    """Return a warning if a trigger that corrects the stored numbers of entries is missing."""
    return [
        Warning(
            f"the total of the audit log may be wrong: missing triggers {', '.join(sorted(names))}",
            hint="run manage.py migrate, which creates them and counts the entries again",
            id="audit.W002",
        )
        for alias in databases or []
        if (names := count_triggers.LATE_ENTRIES.missing(connections[alias]))
    ]
