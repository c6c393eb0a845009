"""Tenants."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """Tenants, which own all other records."""

    name = "identity.tenants"
