"""Connectors: who carries messages, and who else can vouch for a user."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    """Providers of email, SMS and social sign-in, as a tenant configured them."""

    name = "interaction.connectors"

    def ready(self) -> None:
        """Register what the doctor asks."""
        from interaction.connectors import checks  # noqa: F401, PLC0415 - models are ready only now
