"""Texts of refusals: English for programs, in the language of the administrator on a form."""

import json

import pytest
from django import forms
from django.utils.translation import gettext_lazy, gettext_noop, override

from identity.core.errors import Invalid, ServiceError
from identity.core.refusal_texts import fill, translate
from identity.operator_kit.form_errors import add_refusal, describe

# Sentences of pages, which are in every catalogue.
MESSAGE = gettext_noop("the body is larger than %(size)s")


class NameForm(forms.Form):
    name = forms.CharField(required=False)


class TestFill:
    def test_the_text_is_english_whatever_the_language(self):
        with override("de"):
            text = fill(MESSAGE, size="1 MiB")

            assert text == "the body is larger than 1 MiB"
            assert json.dumps(text) == '"the body is larger than 1 MiB"'
            assert str(ServiceError(text)) == "the body is larger than 1 MiB"

    def test_the_whole_sentence_is_translated(self):
        text = fill(MESSAGE, size="1 MiB")

        with override("de"):
            assert translate(text) != text
            assert "1 MiB" in translate(text)

    def test_a_value_is_translated_only_if_it_is_a_text_of_its_own(self):
        own = fill("%(it)s!", it=gettext_lazy("Password"))
        name = fill("%(it)s!", it="Password")

        with override("de"):
            assert translate(fill("%(inner)s?", inner=own)) == "Passwort!?"
            assert translate(name) == "Password!"


class TestForm:
    @pytest.mark.parametrize(
        "refusal", [Invalid("name", gettext_noop("Sign in")), ServiceError(gettext_noop("Sign in"))]
    )
    def test_it_shows_a_refusal_in_the_active_language(self, refusal):
        form = NameForm({})
        form.full_clean()

        with override("de"):
            add_refusal(form, refusal)

        assert [*form.errors.values()] == [["Anmelden"]]
        assert refusal.message.endswith("Sign in")

    def test_the_name_of_a_field_stays_before_the_translated_rule(self):
        with override("de"):
            assert describe(Invalid("slug", gettext_noop("Sign in"))) == "slug: Anmelden"
