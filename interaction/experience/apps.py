"""The sign-in experience."""

from django.apps import AppConfig


class ExperienceConfig(AppConfig):
    """What end users are offered, and how it looks."""

    name = "interaction.experience"

    def ready(self) -> None:
        """Register what the doctor asks."""
        from interaction.experience import checks  # noqa: F401, PLC0415 - models are ready only now
