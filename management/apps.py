"""How administrators come in."""

from django.apps import AppConfig


class ManagementConfig(AppConfig):
    """Holds the operators' commands."""

    name = "management"

    def ready(self) -> None:
        """Register what the doctor asks."""
        from management.doctor import (  # noqa: F401, PLC0415 - models are ready only now
            address,
            administrators,
            cache,
            database,
            encryption_keys,
            files,
            proxies,
            versions,
        )
