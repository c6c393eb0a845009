"""Tenants."""

from django.apps import AppConfig


class TenantsConfig(AppConfig):
    """Tenants, to which all other records belong."""

    name = "identity.tenants"
