"""Texts of refusals, which are English for programs and can be translated for administrators.

A constant is marked with ``gettext_noop`` where it is defined. A text with values comes from ``fill``.
"""

from typing import Self

from django.utils import translation
from django.utils.functional import Promise

from identity.core.text_lists import join


class FilledText(str):
    """An English text that knows the message and the values from which it was filled."""

    __slots__ = ("_message", "_values")

    _message: str | Promise
    _values: dict[str, object]

    def __new__(cls, message: str | Promise, values: dict[str, object]) -> Self:
        """Fill the message, in English."""
        with translation.override("en"):
            text = super().__new__(cls, _translate(message) % _show(values))
        text._message, text._values = message, values
        return text

    def in_active_language(self) -> str:
        """Return the text in the active language."""
        return _translate(self._message) % _show(self._values)


def fill(message: str | Promise, **values: object) -> str:
    """Return an English text that ``translate`` can translate.

    The message has placeholders such as ``%(count)s``. It is marked with ``gettext_noop``, or with
    ``ngettext_lazy(…, "count")`` if it has a plural. A value that can be translated is filled or lazy too.
    Several values are a list or a tuple.
    """
    return FilledText(message, values)


def translate(text: str) -> str:
    """Return the text of a refusal in the active language, or in English if it has no translation."""
    if isinstance(text, FilledText):
        return text.in_active_language()
    # The message "" is the head of the catalogue.
    return translation.gettext(text) if text else ""


def _show(values: dict[str, object]) -> dict[str, object]:
    return {name: _show_one(value) for name, value in values.items()}


def _show_one(value: object) -> object:
    if isinstance(value, list | tuple):
        return join(value)
    return translate(value) if isinstance(value, FilledText) else value


def _translate(message: str | Promise) -> str:
    return message if isinstance(message, Promise) else translation.gettext(message)  # type: ignore[return-value]
