"""Django's admin, with a site of ours."""

from django.contrib.admin.apps import AdminConfig


class OperatorSiteConfig(AdminConfig):
    """Finds the ``admin`` module of every app; the site takes those that know what a tenant is."""

    default_site = "management.site.site.OperatorSite"

    def ready(self) -> None:
        """Register the pages of the audit log, first in its section, and those of the apps."""
        from management.site import audit_log  # noqa: F401, PLC0415 - models are ready only now

        super().ready()
