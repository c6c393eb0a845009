"""What is drawn before it is saved: an experience as it would be, or a message of one."""

from dataclasses import dataclass

from interaction.experience.forms import MessageKey
from interaction.experience.models import SignInExperience


@dataclass(frozen=True, slots=True)
class TextMessage:
    """One kind of message in one language, as an experience that is not saved words it."""

    key: MessageKey
    experience: SignInExperience


class Email(TextMessage):
    """The same, as an email."""
