"""The sign-in of the demo: see ``settings.DEMO_DATA``."""

from typing import Any, Final

from identity.core.proof import NO_ADMINISTRATOR
from interaction.experience import services

# Nobody is asked without a reason, so that a newcomer signs in with the password alone.
_FACTORS: Final[dict[str, Any]] = {
    "mfa": {"factors": ["WebAuthn", "Totp", "BackupCode"]},
    "passkey_sign_in": {"enabled": True},
    "trusted_device_policy": {"enabled": True},
}


def create() -> dict[str, int]:
    """Let users of the active tenant set up second factors and passkeys, unless they can already."""
    if not services.current().has_factors:
        services.change(_FACTORS, is_proven=NO_ADMINISTRATOR)
    return {}
