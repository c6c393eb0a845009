"""The app of upgrades."""

from django.apps import AppConfig


class UpgradesConfig(AppConfig):
    """Stores which nodes serve, and their releases."""

    name = "management.upgrades"
