"""Browser sessions of end users."""

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    """The label differs from that of Django's own sessions, which only administrators have."""

    name = "identity.sessions"
    label = "identity_sessions"
