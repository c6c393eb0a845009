"""Codes that prove whose an email address or a phone is."""

from django.apps import AppConfig


class VerificationConfig(AppConfig):
    """Codes, and the messages that carry them."""

    name = "interaction.verification"
