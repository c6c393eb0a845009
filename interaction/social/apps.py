"""Social sign-in: signing in with an account at another provider."""

from django.apps import AppConfig


class SocialConfig(AppConfig):
    """Accounts at other providers that are linked to users, and pending sign-ins at providers."""

    name = "interaction.social"
