"""API resources and their scopes."""

from django.apps import AppConfig


class ResourcesConfig(AppConfig):
    """The APIs for which access tokens are issued."""

    name = "identity.resources"
