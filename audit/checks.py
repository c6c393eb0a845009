"""A check that fails while the log could be changed."""

from collections.abc import Sequence

from django.core.checks import CheckMessage, Error, Tags, register
from django.db import connections

from audit import triggers


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
        if (names := triggers.missing(connections[alias]))
    ]
