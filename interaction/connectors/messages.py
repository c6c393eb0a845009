"""Emails and text messages to users."""

import unicodedata
from dataclasses import dataclass, field
from typing import Final

from django.utils.translation import gettext_noop

from database import ids
from identity.core.errors import Invalid
from identity.users import identifiers

EMAIL: Final = "email"
SMS: Final = "sms"
TEST: Final = "test"

_MISSING: Final = {
    EMAIL: gettext_noop("is required: your own account has no email"),
    SMS: gettext_noop("is required: your own account has no phone"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """An email or SMS. ``body`` includes the code; providers with their own template use only ``code``.

    Raises:
        Invalid: the recipient or the subject contains control characters, which could add headers.

    """

    channel: str
    to: str
    interaction_type: str
    code: str
    body: str
    subject: str = ""
    html: str = ""
    id: str = field(default_factory=lambda: str(ids.new()))

    def __post_init__(self) -> None:
        for name in ("to", "subject"):
            if any(unicodedata.category(c) in {"Cc", "Zl", "Zp"} for c in getattr(self, name)):
                raise Invalid(name, gettext_noop("must not contain control characters or line breaks"))


def new_test_email(to: str) -> Message:
    """Return the message that tests an email connector."""
    return Message(
        channel=EMAIL,
        to=to,
        interaction_type=TEST,
        code="000000",
        subject="Test message",
        body=(
            "This is a test message.\n\n"
            "An administrator sent it to check that messages arrive. You do not need to do anything.\n"
            "A verification code looks like this: 000000\n"
        ),
    )


def new_test_sms(to: str) -> Message:
    """Return the message that tests an SMS connector."""
    return Message(
        channel=SMS,
        to=to,
        interaction_type=TEST,
        code="000000",
        body="This is a test message. A verification code looks like this: 000000",
    )


def new_test_message(channel: str, to: str) -> Message:
    """Return the message that tests a connector of a channel.

    Raises:
        Invalid: the recipient is missing, or is not an address.

    """
    if not to:
        raise Invalid("to", _MISSING[channel], code="required")
    try:
        if channel == EMAIL:
            return new_test_email(identifiers.clean_email(to))
        return new_test_sms(identifiers.clean_phone(to))
    except Invalid as error:
        raise Invalid("to", error.rule) from None
