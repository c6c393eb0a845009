"""Users."""

from django.apps import AppConfig


class UsersConfig(AppConfig):
    """End users: people who sign in to applications."""

    name = "identity.users"
