"""The audit log: what happened, who did it, and from where."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class AuditConfig(AppConfig):
    """The audit log and its triggers."""

    name = "audit"

    def ready(self) -> None:
        """Create the triggers after every migrate, and register the checks that they exist."""
        from audit import checks, count_triggers, triggers  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(triggers.APPEND_ONLY.after_migrate, sender=self)
        post_migrate.connect(count_triggers.LATE_ENTRIES.after_migrate, sender=self)
