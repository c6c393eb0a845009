"""What the conformance suite needs of the sign-in: a second factor, so that tokens name an ``acr``."""

from identity.core.proof import NO_ADMINISTRATOR
from identity.factors.kinds import FactorType
from interaction.experience import services as experiences


def prepare() -> None:
    """Let users of the active tenant set up an authenticator app. Nobody is asked for one."""
    if not experiences.current().has_factors:
        experiences.change({"mfa": {"factors": [FactorType.TOTP.value]}}, is_proven=NO_ADMINISTRATOR)
