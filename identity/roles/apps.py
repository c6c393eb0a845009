"""System roles."""

from django.apps import AppConfig


class RolesConfig(AppConfig):
    """Roles of users and machine applications in the whole tenant."""

    name = "identity.roles"
