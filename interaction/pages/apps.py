from django.apps import AppConfig


class PagesConfig(AppConfig):
    """A Django app without models, which has static files."""

    name = "interaction.pages"
    label = "pages"
    verbose_name = "End-user pages"
