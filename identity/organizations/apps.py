"""Organizations, their members, and the roles and permissions they share."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OrganizationsConfig(AppConfig):
    """Groups of users inside a tenant: a customer, a team, a branch."""

    name = "identity.organizations"

    def ready(self) -> None:
        """Create the triggers that count after every migrate, and check that they are there."""
        from identity.organizations import checks, totals  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(totals.MEMBERS.after_migrate, sender=self)
