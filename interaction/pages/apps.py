from django.apps import AppConfig


class PagesConfig(AppConfig):
    """Registered for its static files; the pages keep no models of their own."""

    name = "interaction.pages"
    label = "pages"
    verbose_name = "End-user pages"
