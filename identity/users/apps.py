"""Users."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class UsersConfig(AppConfig):
    """End users: people who sign in to applications."""

    name = "identity.users"

    def ready(self) -> None:
        """Create the counting triggers after every migrate, and register their check."""
        from identity.users import checks, row_counts  # noqa: F401, PLC0415 - models are ready only now

        for count in (row_counts.USERS, row_counts.USERS_BY_DAY):
            post_migrate.connect(count.after_migrate, sender=self)
