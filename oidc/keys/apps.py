"""Signing keys."""

from django.apps import AppConfig


class KeysConfig(AppConfig):
    """The ES256 keys that tokens are signed with."""

    name = "oidc.keys"
