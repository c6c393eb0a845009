"""The sign-in experience."""

from django.apps import AppConfig


class ExperienceConfig(AppConfig):
    """The settings of a tenant's end-user pages, and their appearance."""

    name = "interaction.experience"

    def ready(self) -> None:
        """Register the doctor's checks."""
        from interaction.experience import checks  # noqa: F401, PLC0415 - models are ready only now
