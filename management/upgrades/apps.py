"""The app of upgrades."""

from django.apps import AppConfig


class UpgradesConfig(AppConfig):
    """Stores the serving nodes and their releases."""

    name = "management.upgrades"
