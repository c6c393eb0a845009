"""Upgrades."""

from django.apps import AppConfig


class UpgradesConfig(AppConfig):
    """Knows which nodes serve, and of which release they are."""

    name = "management.upgrades"
