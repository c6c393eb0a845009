"""Chromium's virtual authenticator, through the DevTools protocol."""

from typing import Any

from playwright.sync_api import Page


class VirtualAuthenticator:
    """A device of a window: one that synchronizes passkeys by default, or a security key (``usb``)."""

    def __init__(
        self,
        page: Page,
        *,
        transport: str = "internal",
        verifies: bool = True,
        resident: bool = True,
        synced: bool = True,
    ) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("WebAuthn.enable")
        answer = self._session.send(
            "WebAuthn.addVirtualAuthenticator",
            {
                "options": {
                    "protocol": "ctap2",
                    "ctap2Version": "ctap2_1",
                    "transport": transport,
                    "hasResidentKey": resident,
                    "hasUserVerification": verifies,
                    "isUserVerified": verifies,
                    "automaticPresenceSimulation": True,
                    "defaultBackupEligibility": synced,
                    "defaultBackupState": synced,
                }
            },
        )
        self._id = answer["authenticatorId"]

    def credentials(self) -> list[dict[str, Any]]:
        """Return what the device holds."""
        answer = self._session.send("WebAuthn.getCredentials", {"authenticatorId": self._id})
        found: list[dict[str, Any]] = answer["credentials"]
        return found

    def verify_user(self, *, is_verified: bool) -> None:
        """Let the device verify its user from now on, or fail to."""
        self._session.send(
            "WebAuthn.setUserVerified", {"authenticatorId": self._id, "isUserVerified": is_verified}
        )

    def answer(self, *, at_once: bool) -> None:
        """Let the device answer at once from now on, or wait for its user."""
        self._session.send(
            "WebAuthn.setAutomaticPresenceSimulation", {"authenticatorId": self._id, "enabled": at_once}
        )
