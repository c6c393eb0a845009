"""Lists within a line of text have the separators of the active language."""

import pytest
from django.conf import settings
from django.utils.translation import gettext_lazy, gettext_noop, override

from identity.core.refusal_texts import fill, translate
from identity.core.text_lists import join

SEPARATORS = {"ar": "، ", "ja": "、", "zh-hans": "、"}


@pytest.mark.parametrize("language", [language for language, _ in settings.LANGUAGES])
def test_a_list_has_the_separator_of_its_language(language):
    with override(language):
        assert join(["a", "b"]) == f"a{SEPARATORS.get(language, ', ')}b"


def test_without_a_language_it_has_a_comma():
    with override(None):
        assert join(["a", "b"]) == "a, b"


def test_items_are_translated_and_one_stands_alone():
    with override("de"):
        assert join([gettext_lazy("Password")]) == "Passwort"
        assert join([]) == ""


def test_a_refusal_joins_its_values_in_the_language_of_its_reader():
    with override("ar"):
        text = fill(gettext_noop("unknown: %(names)s"), names=["a", "b"])

        assert text == "unknown: a, b"
        assert translate(text).endswith("a، b")
