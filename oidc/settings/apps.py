"""A tenant's settings of OpenID Connect."""

from django.apps import AppConfig


class OidcSettingsConfig(AppConfig):
    """Which optional parts of the protocol a tenant uses, and how long sessions and tokens live."""

    name = "oidc.settings"
    label = "oidc_settings"
