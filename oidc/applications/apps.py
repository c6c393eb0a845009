"""Applications: the relying parties."""

from django.apps import AppConfig


class ApplicationsConfig(AppConfig):
    """OAuth clients of four types."""

    name = "oidc.applications"
