"""Tenants."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """Who everything else belongs to."""

    name = "identity.tenants"
