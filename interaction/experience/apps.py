"""The sign-in experience."""

from django.apps import AppConfig


class ExperienceConfig(AppConfig):
    """What end users are offered, and how it looks."""

    name = "interaction.experience"
