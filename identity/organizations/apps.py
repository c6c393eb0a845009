"""Organizations, their members, and the templates of roles and permissions."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class OrganizationsConfig(AppConfig):
    """Groups of users in a tenant, such as a customer or a team."""

    name = "identity.organizations"

    def ready(self) -> None:
        """Create the counting triggers after every migrate, and register their check."""
        from identity.organizations import checks, row_counts  # noqa: F401, PLC0415 - models are ready only now

        post_migrate.connect(row_counts.MEMBERS.after_migrate, sender=self)
