"""Messages on their way to a person."""

import unicodedata
from dataclasses import dataclass, field
from typing import Final

from database import ids
from identity.core.errors import Invalid

EMAIL: Final = "email"
SMS: Final = "sms"
TEST: Final = "test"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One email or SMS. ``code`` is in ``body`` too; some providers fill it into a template of theirs.

    Raises:
        Invalid: recipient or subject hold control characters, which would become headers.

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
                raise Invalid(name, "must not contain control characters or line breaks")


def email_test(to: str) -> Message:
    """Return what a test of an email connector sends."""
    return Message(
        channel=EMAIL,
        to=to,
        interaction_type=TEST,
        code="000000",
        subject="Test message",
        body=(
            "This is a test message.\n\n"
            "An administrator sent it to see whether messages arrive. They do, and there is nothing to do.\n"
            "A verification code would look like this: 000000\n"
        ),
    )


def sms_test(to: str) -> Message:
    """Return what a test of an SMS connector sends."""
    return Message(
        channel=SMS,
        to=to,
        interaction_type=TEST,
        code="000000",
        body="This is a test message. A verification code would look like this: 000000",
    )
