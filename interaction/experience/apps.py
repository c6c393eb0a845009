"""The sign-in experience."""

from django.apps import AppConfig


class ExperienceConfig(AppConfig):
    """The settings of a tenant's end-user pages, and their appearance."""

    name = "interaction.experience"

    def ready(self) -> None:
        """Register the doctor's checks, and the rule by which browsers are remembered."""
        from identity.factors import remembered_rule  # noqa: PLC0415 - models are ready only now
        from interaction.experience import checks, services  # noqa: F401, PLC0415

        remembered_rule.register(services.get_trusted_devices)
