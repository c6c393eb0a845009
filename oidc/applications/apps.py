"""Applications: the relying parties."""

from django.apps import AppConfig


class ApplicationsConfig(AppConfig):
    """OAuth clients of four types."""

    name = "oidc.applications"

    def ready(self) -> None:
        """Register the system checks."""
        from oidc.applications import checks  # noqa: F401, PLC0415 - models are ready only now
