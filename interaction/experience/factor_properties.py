"""What the settings of second factors mean, as properties of the sign-in experience."""

from datetime import datetime
from typing import Any, Final

from identity.factors import policy
from identity.factors.browsers import TrustedDevices
from identity.factors.levels import Level
from identity.factors.policy import Policy

DURATION_DAYS: Final = 30


class FactorProperties:
    """The properties of a sign-in experience that are about second factors and passkeys."""

    mfa: dict[str, Any]
    passkey_sign_in: dict[str, Any]
    trusted_device_policy: dict[str, Any]
    trusted_devices_since: datetime | None
    adaptive_mfa: dict[str, Any]
    account: dict[str, Any]

    @property
    def factor_policy(self) -> Policy:
        """The policy of second factors."""
        return policy.read(self.mfa)

    @property
    def has_passkey_sign_in(self) -> bool:
        """Whether users can sign in with a passkey alone."""
        return bool(self.passkey_sign_in.get("enabled"))

    @property
    def trusted_devices(self) -> TrustedDevices | None:
        """For how many days users can skip the second factor in a browser, if the tenant lets them."""
        settings = self.trusted_device_policy
        if not (settings.get("enabled") and self.trusted_devices_since):
            return None
        return TrustedDevices(settings.get("duration_days", DURATION_DAYS), self.trusted_devices_since)

    @property
    def has_sign_in_notice(self) -> bool:
        """Whether users get an email about a sign-in from a new browser. By default only with factors."""
        return bool(self.account.get("sign_in_notice", self.has_factors))

    @property
    def has_adaptive_factors(self) -> bool:
        """Whether users who have a factor are asked for it when a sign-in is unusual."""
        return bool(self.adaptive_mfa.get("enabled")) and self.factor_policy.is_on

    @property
    def records_browsers(self) -> bool:
        """Whether the browsers in which users sign in are recorded."""
        return self.has_sign_in_notice or self.has_adaptive_factors or self.trusted_devices is not None

    @property
    def highest_level(self) -> int:
        """The highest level that a sign-in of this tenant reaches."""
        by_passkey = Level.PHISHING_RESISTANT if self.has_passkey_sign_in else Level.ONE
        return max(self.factor_policy.highest_level, by_passkey)

    @property
    def has_factors(self) -> bool:
        """Whether the tenant has second factors or passkeys, so that tokens tell how a user signed in."""
        return self.highest_level > Level.ONE
