"""Days and sentences as the language of the reader writes them."""

from datetime import date

from django.utils import formats
from django.utils.text import capfirst
from django.utils.translation import pgettext


def format_day(day: date) -> str:
    """Return a short text for a day, without its year, such as "3 Nov"."""
    # Translators: letters of https://docs.djangoproject.com/en/5.2/ref/templates/builtins/#date
    return formats.date_format(day, pgettext("format of a day without its year", "j M"))


def format_date(day: date) -> str:
    """Return a text for a day, such as "3 Nov 2026"."""
    # Translators: letters of https://docs.djangoproject.com/en/5.2/ref/templates/builtins/#date
    return formats.date_format(day, pgettext("format of a day with its year", "j M Y"))


def to_sentence(clause: object) -> str:
    """Return a clause as a sentence."""
    return pgettext("a clause as a sentence", "%(sentence)s.") % {"sentence": capfirst(str(clause))}
