"""Users."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class UsersConfig(AppConfig):
    """End users: people who sign in to applications."""

    name = "identity.users"

    def ready(self) -> None:
        """Create the triggers that count after every migrate, and check that they are there."""
        from identity.users import checks, totals  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(totals.USERS.after_migrate, sender=self)
