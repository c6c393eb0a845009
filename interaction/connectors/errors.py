"""Errors of providers."""

from enum import StrEnum

from django.utils.translation import gettext_noop

from identity.core.refusal_texts import fill


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

    Administrators see the message, which never contains a secret or text from the provider's response. The
    message is English, and can be translated with ``refusal_texts.translate``.
    """

    def __init__(self, message: str, reason: Reason = Reason.ANSWER) -> None:
        self.message = message
        self.reason = reason
        super().__init__(message)


def describe_refusal(provider: str, reason: str, code: object) -> str:
    """Return the message for a refusal with a known code. The reason is marked with ``gettext_noop``."""
    message = gettext_noop("%(provider)s refused: %(reason)s (%(code)s)")
    return fill(message, provider=provider, reason=fill(reason), code=code)


def describe_status(provider: str, status: int) -> str:
    """Return the message for a response with an HTTP status that says that the request failed."""
    return fill(gettext_noop("%(provider)s responded with HTTP %(status)s"), provider=provider, status=status)
