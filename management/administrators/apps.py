"""Administrators."""

from django.apps import AppConfig


class AdministratorsConfig(AppConfig):
    """People who manage tenants. They stand above tenants and are never end users."""

    name = "management.administrators"
