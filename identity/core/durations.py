"""Lengths of time in words, in the active language."""

import math
from typing import Any, Final

from django.conf import settings
from django.utils.functional import lazy
from django.utils.translation import ngettext

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 24 * _HOUR


def describe(seconds: int) -> str:
    """Return a time in seconds, minutes or hours, rounded up, for example ``14 minutes``."""
    if seconds <= _MINUTE:
        number, text = seconds, ngettext("%(number)d second", "%(number)d seconds", seconds)
    elif seconds <= 2 * _HOUR:
        number = math.ceil(seconds / _MINUTE)
        text = ngettext("%(number)d minute", "%(number)d minutes", number)
    else:
        number = math.ceil(seconds / _HOUR)
        text = ngettext("%(number)d hour", "%(number)d hours", number)
    return text % {"number": number}


def describe_exactly(seconds: int) -> str:
    """Return a time in the largest unit that gives a whole number, for example ``30 days`` or ``90 minutes``.

    Nothing is rounded.
    """
    if seconds and seconds % _DAY == 0:
        number, text = seconds // _DAY, ngettext("%(number)s day", "%(number)s days", seconds // _DAY)
    elif seconds and seconds % _HOUR == 0:
        number, text = seconds // _HOUR, ngettext("%(number)d hour", "%(number)d hours", seconds // _HOUR)
    elif seconds and seconds % _MINUTE == 0:
        number = seconds // _MINUTE
        text = ngettext("%(number)d minute", "%(number)d minutes", number)
    else:
        number, text = seconds, ngettext("%(number)d second", "%(number)d seconds", seconds)
    return text % {"number": number}


# How long a proof of the identity is valid, as a lazy text.
CONFIRM_TIME: Final[Any] = lazy(lambda: describe(settings.CONFIRM_SECONDS), str)()
