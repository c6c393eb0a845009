"""Rate limits and locks."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """Counters that all workers and nodes share."""

    name = "identity.limits"
