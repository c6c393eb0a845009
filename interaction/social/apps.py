"""Social sign-in: people whom another provider vouches for."""

from django.apps import AppConfig


class SocialConfig(AppConfig):
    """Accounts elsewhere that are linked to people here, and sign-ins that are on their way back."""

    name = "interaction.social"
