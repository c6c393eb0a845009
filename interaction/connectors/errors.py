"""Errors of providers."""

from enum import StrEnum


class Reason(StrEnum):
    """Why a provider's answer to a sign-in cannot be used, for the audit log and the server's log."""

    ISSUER = "issuer"
    AUDIENCE = "audience"
    SIGNATURE = "signature"
    NONCE = "nonce"
    EXPIRED = "expired"
    MISSING_CLAIM = "missing_claim"
    NO_SUCH_KEY = "no_such_key"
    SEVERAL_KEYS = "several_keys"
    CODE_REFUSED = "code_refused"
    TIMED_OUT = "timed_out"
    UNREACHABLE = "unreachable"
    ANSWER = "answer"  # anything else


class ProviderError(Exception):
    """A provider failed, or refused a request.

    Administrators see the message. It never contains a secret or text from the provider's response.
    """

    def __init__(self, message: str, reason: Reason = Reason.ANSWER) -> None:
        self.reason = reason
        super().__init__(message)
