"""Connectors: providers of email, SMS, CAPTCHAs and social sign-in."""

from django.apps import AppConfig


class ConnectorsConfig(AppConfig):
    """The connectors of tenants."""

    name = "interaction.connectors"

    def ready(self) -> None:
        """Register the doctor's checks."""
        from interaction.connectors import checks  # noqa: F401, PLC0415 - models are ready only now
