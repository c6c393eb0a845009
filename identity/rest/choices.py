"""The field for one of a few words."""

from typing import Any, Final

from django.utils.translation import gettext
from rest_framework import serializers

from identity.core.text_lists import join

MOST_LISTED: Final = 20  # choices that a message names
_QUOTED: Final = 64  # characters of a wrong value that a message repeats


class Choice(serializers.ChoiceField):
    """One of some words. The message about another value names them if there are few."""

    def to_internal_value(self, data: Any) -> Any:
        if data == "" and self.allow_blank:
            return ""
        try:
            return self.choice_strings_to_values[str(data)]
        except KeyError:
            raise serializers.ValidationError(self._describe(str(data)), code="invalid_choice") from None

    def _describe(self, text: str) -> str:
        if len(self.choices) > MOST_LISTED:
            return gettext('"%(text)s" is not a valid choice') % {"text": text[:_QUOTED]}
        choices = _join([str(choice) or gettext("an empty string") for choice in self.choices])
        message = gettext('"%(text)s" is not a valid choice: use %(choices)s')
        return message % {"text": text[:_QUOTED], "choices": choices}


def _join(words: list[str]) -> str:
    *others, last = words
    if not others:
        return last
    return gettext("%(words)s or %(last)s") % {"words": join(others), "last": last}
