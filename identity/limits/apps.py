"""Rate limits and locks."""

from django.apps import AppConfig


class LimitsConfig(AppConfig):
    """Rate limits and locks, which all workers and nodes share."""

    name = "identity.limits"
