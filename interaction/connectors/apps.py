"""Connectors: providers of email, SMS, CAPTCHAs and social sign-in."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    """Providers of email, SMS, CAPTCHAs and social sign-in, as a tenant configured them."""

    name = "interaction.connectors"

    def ready(self) -> None:
        """Register the doctor's checks."""
        from interaction.connectors import checks  # noqa: F401, PLC0415 - models are ready only now
