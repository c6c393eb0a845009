"""The app of the management commands."""

from django.apps import AppConfig


class ManagementConfig(AppConfig):
    """Makes Django find the management commands."""

    name = "management"
