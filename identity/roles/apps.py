"""System roles."""

from django.apps import AppConfig


class RolesConfig(AppConfig):
    """Bundles of scopes that hold in the whole tenant."""

    name = "identity.roles"
