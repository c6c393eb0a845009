"""Django's admin, with our own site."""

from django.contrib.admin.apps import AdminConfig


class OperatorSiteConfig(AdminConfig):
    """Loads the ``admin`` module of every app; the site accepts only tenant-aware pages."""

    default_site = "management.site.site.OperatorSite"

    def ready(self) -> None:
        """Register the pages of the audit log first, and then those of the apps."""
        # Models are ready only now.
        from management.site import audit_log, claims_preview, first_steps, sign_in_health  # noqa: F401, PLC0415
        from management.site.applications import activity, endpoints, quick_start  # noqa: F401, PLC0415

        super().ready()
