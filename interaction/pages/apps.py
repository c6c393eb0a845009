from django.apps import AppConfig


class PagesConfig(AppConfig):
    """A Django app because it has static files. It has no models."""

    name = "interaction.pages"
    label = "pages"
    verbose_name = "End-user pages"
