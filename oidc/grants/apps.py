"""What was granted: pending requests, codes, refresh families, consents, revoked ids."""

from django.apps import AppConfig


class GrantsConfig(AppConfig):
    """The models of grants, which replace the toolkit's token models."""

    name = "oidc.grants"
