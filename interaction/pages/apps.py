from django.apps import AppConfig


class PagesConfig(AppConfig):
    """A Django app without models, which has static files."""

    name = "interaction.pages"
    label = "pages"
    verbose_name = "End-user pages"

    def ready(self) -> None:
        """Register the ways to sign in."""
        from identity.users import sign_in_ways as ways_of_users  # noqa: PLC0415 - models are ready only now
        from interaction.journeys import sign_in_ways  # noqa: PLC0415

        ways_of_users.register(sign_in_ways.get_ways)
