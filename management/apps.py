"""The app of the management commands."""

from django.apps import AppConfig


class ManagementConfig(AppConfig):
    """Holds the management commands."""

    name = "management"
