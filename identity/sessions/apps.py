"""Browser sessions of end users."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """Labelled apart from Django's own sessions, which end users never have."""

    name = "identity.sessions"
    label = "identity_sessions"
