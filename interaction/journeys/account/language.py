"""The language that the user chose for the pages."""

from django.utils.translation import get_supported_language_variant

from identity.users.models import User
from interaction.journeys import languages
from interaction.journeys.account import profile


def choose(user: User, *, language: str, tag: str) -> None:
    """Keep a language in the user's profile, by its Django code and its BCP 47 tag.

    A profile that already names a variant of the language, such as ``en-GB``, stays as it is.

    Raises:
        profile.ChangedTooOften: the user changed the profile too often.

    """
    if languages.find_own(user) != get_supported_language_variant(language):
        profile.change(user, {"profile": {"locale": tag}})
