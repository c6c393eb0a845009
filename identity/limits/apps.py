"""How often something may be done."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """Counters that all workers and nodes share."""

    name = "identity.limits"
