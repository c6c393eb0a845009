"""What a tenant's messages say, where they shall say something of their own."""

import re
from typing import Any, Final

from django.conf import settings
from rest_framework import serializers

from identity.rest.fields import Description, Line
from identity.users.notices import Notice

CODES: Final = ("sign_in", "register", "forgot_password", "change")
PURPOSES: Final = (*CODES, *(notice.value for notice in Notice))
_PLACEHOLDERS: Final = re.compile(r"\{([^{}]*)\}")
_EVERY_LANGUAGE: Final = ""
_KEY: Final = ("purpose", "channel", "language")


class MessageTemplateSerializer(serializers.Serializer[Any]):
    """The words of one kind of message in one language.

    ``{name}``, the tenant's, is filled in, and ``{code}`` where the message carries one. Notices about
    linked accounts fill in ``{provider}``.
    """

    purpose = serializers.ChoiceField(choices=PURPOSES)
    channel = serializers.ChoiceField(choices=("email", "sms"))
    language = serializers.ChoiceField(
        choices=[_EVERY_LANGUAGE, *(code for code, _ in settings.LANGUAGES)],
        help_text="A language of the pages; empty stands for every language that has no template of its own",
    )
    subject = Line(required=False, allow_blank=True, help_text="Of an email: required, and without the code")
    text = Description(max_length=4096, required=True, allow_blank=False)
    html = Description(max_length=16_384, help_text="Of an email; without it there is only the text")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Ask for all of it, in a PATCH too, and for the code where it belongs."""
        if missing := [name for name in (*_KEY, "text") if name not in attrs]:
            raise serializers.ValidationError(dict.fromkeys(missing, "is required"))
        whole = {"subject": "", "html": ""} | attrs
        if whole["channel"] == "email" and not whole["subject"].strip():
            raise serializers.ValidationError({"subject": "is required for an email"})
        if whole["channel"] == "sms" and (whole["subject"] or whole["html"]):
            raise serializers.ValidationError({"subject": "an SMS has neither subject nor html"})
        carries_code = whole["purpose"] in CODES
        words = {"name"} if carries_code else {"name", "provider"}
        _check(whole, "subject", words)
        for field in ("text", "html"):
            _check(whole, field, words | {"code"} if carries_code else words)
            if carries_code and whole[field] and "{code}" not in whole[field]:
                raise serializers.ValidationError({field: "must contain {code}"})
        return whole


class MessageTemplatesSerializer(serializers.ListSerializer[Any]):
    """All templates of a tenant, each kind of message once a language."""

    def __init__(self, **options: Any) -> None:
        most = len(PURPOSES) * 2 * (len(settings.LANGUAGES) + 1)
        super().__init__(**{"child": MessageTemplateSerializer(), "max_length": most, **options})

    def validate(self, attrs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Refuse two templates for one message."""
        keys = [tuple(template[name] for name in _KEY) for template in attrs]
        if len(keys) != len(set(keys)):
            raise serializers.ValidationError("two templates are for the same message in the same language")
        return attrs


def best(
    templates: list[dict[str, Any]], *, purpose: str, channel: str, language: str
) -> dict[str, Any] | None:
    """Return the template of a message: that of its language, else that of every language."""
    found = {
        template["language"]: template
        for template in templates
        if (template["purpose"], template["channel"]) == (purpose, channel)
    }
    return found.get(language) or found.get(_EVERY_LANGUAGE)


def _check(template: dict[str, Any], field: str, known: set[str]) -> None:
    unknown = set(_PLACEHOLDERS.findall(template[field])) - known
    # Braces are how styles are written, too: only a single word in them can be a placeholder.
    unknown = {name for name in unknown if name.isidentifier()}
    if unknown:
        raise serializers.ValidationError({field: f"{{{min(unknown)}}} is not known here"})
