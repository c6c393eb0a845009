"""What was granted: pending requests, codes, refresh families, consents, revoked ids."""

from django.apps import AppConfig


class GrantsConfig(AppConfig):
    """The models of grants, which replace the toolkit's token models."""

    name = "oidc.grants"

    def ready(self) -> None:
        """Register how the grants of remembered browsers end."""
        from identity.factors import remembered_grants  # noqa: PLC0415 - models are ready only now
        from oidc.grants import remembered  # noqa: PLC0415

        remembered_grants.register(remembered.end)
