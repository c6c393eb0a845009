"""How administrators come in."""

from django.apps import AppConfig


class ManagementConfig(AppConfig):
    """Holds the operators' commands."""

    name = "management"
