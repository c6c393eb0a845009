"""What was granted: pending requests, codes, refresh families, consents, revoked ids."""

from django.apps import AppConfig


class GrantsConfig(AppConfig):
    """Stands in for the toolkit's token tables, which are swapped for these."""

    name = "oidc.grants"
