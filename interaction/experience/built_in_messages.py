"""The built-in texts of messages as templates. The app that sends the messages registers who builds them."""

from collections.abc import Callable
from typing import Final

from interaction.experience.forms import MessageKey
from interaction.experience.models import SignInExperience

Build = Callable[[MessageKey, SignInExperience], dict[str, str]]
_builders: Final[list[Build]] = []


def register(build: Build) -> None:
    """Use a function that returns subject, text and HTML of a message, with placeholders."""
    _builders[:] = [build]


def get_template(key: MessageKey, row: SignInExperience) -> dict[str, str]:
    """Return the built-in texts of a message, with placeholders."""
    (build,) = _builders
    return build(key, row)
