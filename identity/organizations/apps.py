"""Organizations, their members, and the roles and permissions they share."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OrganizationsConfig(AppConfig):
    """Groups of users inside a tenant: a customer, a team, a branch."""

    name = "identity.organizations"

    def ready(self) -> None:
        """Create the counting triggers after every migrate, and register their check."""
        from identity.organizations import checks, row_counts  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(row_counts.MEMBERS.after_migrate, sender=self)
