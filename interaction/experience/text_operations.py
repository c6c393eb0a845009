"""The operators' forms of the texts of pages: one for each language."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils.html import format_html
from django.utils.text import format_lazy
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import ValidationError

from identity.core.text_lists import join
from identity.operator_kit.operations import Draft, Operation, ShowForm, Submission, validate
from interaction.experience import drafts, services
from interaction.experience.models import SignInExperience
from interaction.experience.page_texts import KEYS, TextKey, find_problem
from interaction.experience.serializers import ExperienceSerializer

LANGUAGES: Final = {"": _("every other language"), **dict(settings.LANGUAGES)}


class ChooseLanguageForm(forms.Form):
    """The language whose texts to edit."""

    language = forms.ChoiceField(label=_("Language"), required=False, choices=list(LANGUAGES.items()))


def _text_field(name: str, key: TextKey, language: str) -> forms.CharField:
    placeholders = join(f"{{{word}}}" for word in sorted(key.allowed))
    hints = (
        [gettext("You can use %(placeholders)s.") % {"placeholders": placeholders}] if placeholders else []
    )
    hints += [gettext("%(name)s is required.") % {"name": f"{{{word}}}"} for word in sorted(key.required)]
    if name == "support_url":
        hints.append(gettext("An https or mailto URL. Without it there is no link."))
    help_text = " ".join(hints)
    if built_in := key.get_built_in(language):
        help_text = format_html(
            "{} {}", format_html(gettext("Built-in text: <bdi>{}</bdi>."), built_in), help_text
        )
    wide = key.max_length > 120 and name != "support_url"  # noqa: PLR2004 - more than a line
    widget = forms.Textarea({"rows": 2, "dir": "auto"}) if wide else forms.TextInput({"dir": "auto"})
    return forms.CharField(
        required=False, max_length=key.max_length, label=key.label, help_text=help_text, widget=widget
    )


def _new_form(language: str, _row: SignInExperience) -> type[forms.Form]:
    """Return the form of the texts in one language, with help in the administrator's language."""
    fields = {name: _text_field(name, key, language) for name, key in KEYS.items()}
    return type("PageTextsForm", (forms.Form,), {"__doc__": "The texts in one language.", **fields})


def get_texts(language: str, row: SignInExperience) -> dict[str, str]:
    """Return the texts of exactly this language, by key."""
    own = {text["key"]: text["text"] for text in row.page_texts if text["language"] == language}
    return {name: own.get(name, "") for name in KEYS}


def build_texts(row: SignInExperience, language: str, submitted: Mapping[str, str]) -> list[dict[str, str]]:
    """Return all texts, with the submitted ones. Empty ones are left out."""
    others = [text for text in row.page_texts if text["language"] != language]
    own = [{"key": name, "language": language, "text": submitted[name]} for name in KEYS if submitted[name]]
    return [*others, *own]


def _read(language: str, submission: Submission) -> dict[str, Any]:
    return {"page_texts": build_texts(submission.row, language, submission.fields)}


def _validate(language: str, submission: Submission) -> dict[str, Any]:
    _check(submission.fields)
    return validate(ExperienceSerializer, _read(language, submission), submission.row)


def _check(fields: Mapping[str, str]) -> None:
    """Check each text, so that an error names its field and not its place in the list."""
    problems = {name: find_problem(name, text) for name, text in fields.items() if text}
    if found := {name: problem for name, problem in problems.items() if problem}:
        raise ValidationError(found)


def _choose(submission: Submission) -> ShowForm:
    return ShowForm(f"texts-{submission.fields['language'] or 'any'}")


def _save(language: str, submission: Submission) -> ShowForm:
    services.change(
        _validate(language, submission), expected=submission.expected, is_proven=submission.is_proven
    )
    return ShowForm(f"texts-{language or 'any'}", gettext("The texts are changed."))


def _build_draft(language: str, submission: Submission) -> drafts.PageTexts:
    fields = _validate(language, submission)
    return drafts.PageTexts(language, services.build_draft(submission.row, fields))


def list_languages(row: SignInExperience) -> list[str]:
    """Return the names of the languages in which a tenant has texts."""
    own = {text["language"] for text in row.page_texts}
    return [str(name) for language, name in LANGUAGES.items() if language in own]


OPERATIONS: Final = (
    Operation(
        "texts", _("Edit texts of pages"), _("Headings, introductions, buttons and the foot of the pages."),
        _choose, form=ChooseLanguageForm, tab=_("Texts"),
    ),
    *(
        Operation(
            f"texts-{language or 'any'}", format_lazy(_("Edit texts of pages: {language}"), language=name),
            _("Plain text. Leave a field empty to show the text for every other language or, without one, "
            "the built-in text.") if language else
            _("Plain text. For the languages without a text of their own. Leave a field empty to show the "
            "built-in text."),
            partial(_save, language), form_for=partial(_new_form, language),
            initial=partial(get_texts, language),
            draft=Draft(drafts.PageTexts, partial(_build_draft, language)), hidden=True, tab=_("Texts"),
        )
        for language, name in LANGUAGES.items()
    ),
)  # fmt: skip
