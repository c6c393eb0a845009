"""The language of the operators' site, and of mails to an administrator."""

from contextlib import AbstractContextManager
from typing import Final

from django.conf import settings
from django.utils.translation import get_language, override

from management.administrators.models import Administrator

_SUPPORTED: Final = frozenset(code for code, _ in settings.LANGUAGES)


def find(administrator: Administrator) -> str | None:
    """Return the language that an administrator chose, or None for that of the browser.

    A node of another release may know languages that this one does not.
    """
    return administrator.language if administrator.language in _SUPPORTED else None


def using(administrator: Administrator) -> AbstractContextManager[None]:
    """Activate the language of an administrator for a mail. Without a choice, the active language stays."""
    return override(find(administrator) or get_language())
