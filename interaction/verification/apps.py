"""Codes that prove whose an email address or a phone is."""

from django.apps import AppConfig


class VerificationConfig(AppConfig):
    """Codes, and the messages that carry them."""

    name = "interaction.verification"

    def ready(self) -> None:
        """Register what the doctor asks."""
        from interaction.verification import checks  # noqa: F401, PLC0415 - models are ready only now
