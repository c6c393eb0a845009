"""Sign-ins that wait for a second factor."""

from django.apps import AppConfig


class PendingSignInsConfig(AppConfig):
    """What is known between the first factor and the session."""

    name = "interaction.pending_sign_ins"
