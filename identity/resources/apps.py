"""API resources and their scopes."""

from django.apps import AppConfig


class ResourcesConfig(AppConfig):
    """What access tokens are for."""

    name = "identity.resources"
