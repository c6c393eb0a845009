"""The app of administrators."""

from django.apps import AppConfig


class AdministratorsConfig(AppConfig):
    """The people who manage tenants. They belong to no tenant and are not end users."""

    name = "management.administrators"
