"""Django's admin, with our own site."""

from django.contrib.admin.apps import AdminConfig


class OperatorSiteConfig(AdminConfig):
    """Loads the ``admin`` module of every app; the site accepts only tenant-aware pages."""

    default_site = "management.site.site.OperatorSite"

    def ready(self) -> None:
        """Register the pages of the audit log first, and then those of the apps."""
        # Models are ready only now.
        from management.site import (  # noqa: PLC0415
            audit_log,  # noqa: F401
            claims_preview,  # noqa: F401
            first_steps,  # noqa: F401
            sign_in_health,  # noqa: F401
            try_sign_in,  # noqa: F401
            user_import,  # noqa: F401
        )
        from management.site.applications import activity, endpoints, quick_start  # noqa: F401, PLC0415

        super().ready()
