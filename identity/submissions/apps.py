"""Forms and requests that were sent: each is done once, and what it created is shown once."""

from django.apps import AppConfig


class SubmissionsConfig(AppConfig):
    """The answers of earlier requests, and secrets that are still shown."""

    name = "identity.submissions"
