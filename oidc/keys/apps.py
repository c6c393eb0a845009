"""Signing keys."""

from django.apps import AppConfig


class KeysConfig(AppConfig):
    """The keys that tokens are signed with."""

    name = "oidc.keys"

    def ready(self) -> None:
        """Register the system checks."""
        from oidc.keys import checks  # noqa: F401, PLC0415 - models are ready only now
