"""Second factors and passkeys of users."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FactorsConfig(AppConfig):
    """What users prove besides, or instead of, a password or a code."""

    name = "identity.factors"

    def ready(self) -> None:
        """Create the triggers after every migrate, and register their check."""
        from identity.factors import checks, triggers  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(triggers.FACTORS.after_migrate, sender=self)
