"""The app of the doctor."""

from django.apps import AppConfig


class DoctorConfig(AppConfig):
    """The checks that belong to no other app: address, database, files, administrators."""

    name = "management.doctor"

    def ready(self) -> None:
        """Register the checks."""
        from management.doctor import (  # noqa: F401, PLC0415 - models are ready only now
            address,
            administrators,
            cache,
            database,
            encryption_keys,
            files,
            machine,
            passkeys,
            proxies,
            versions,
        )
