"""Verification codes: proof that a user owns an email address or phone number."""

from django.apps import AppConfig


class VerificationConfig(AppConfig):
    """Verification codes, and the messages that contain them."""

    name = "interaction.verification"

    def ready(self) -> None:
        """Register the doctor's checks."""
        from interaction.verification import checks  # noqa: F401, PLC0415 - models are ready only now
