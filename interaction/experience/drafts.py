"""Messages and pages for previews of an unsaved sign-in experience."""

from dataclasses import dataclass

from interaction.experience.forms import MessageKey
from interaction.experience.models import SignInExperience


@dataclass(frozen=True, slots=True)
class TextMessage:
    """A text message in one language."""

    key: MessageKey
    experience: SignInExperience


class Email(TextMessage):
    """An email in one language."""


@dataclass(frozen=True, slots=True)
class PageTexts:
    """The pages in one language."""

    language: str
    experience: SignInExperience
