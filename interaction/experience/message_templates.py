"""The templates with which a tenant replaces the default messages."""

import re
from collections.abc import Iterable
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext, gettext_noop
from rest_framework import serializers

from identity.core.text_lists import join
from identity.rest.choices import Choice
from identity.rest.fields import Description, Line
from identity.users.notices import Notice
from interaction.experience import html_codes

CODES: Final = ("sign_in", "register", "forgot_password", "second_factor", "change")
PURPOSES: Final = (*CODES, *(notice.value for notice in Notice))
_PLACEHOLDERS: Final = re.compile(r"\{([^{}]*)\}")
_OF_NOTICES: Final = {"name", "provider", "time", "browser", "address", "remaining", "account"}
_EVERY_LANGUAGE: Final = ""
KEY: Final = ("purpose", "channel", "language")


class MessageTemplateSerializer(serializers.Serializer[Any]):
    """The template of a kind of message in one language.

    Placeholders: ``{name}`` is the tenant's name, ``{code}`` the code, in messages with a code, and
    ``{provider}`` the provider's name, in notices about linked accounts. In notices, ``{time}``,
    ``{browser}`` and ``{address}`` say when and where it was done. The last two are empty if an administrator
    did it. In the notice of a new password, ``{remaining}`` names the linked accounts and passkeys that can
    still sign in, and ``{account}`` is the URL of the account page. Both are empty if there are none. In the
    notice of a used backup code, ``{left}`` is the number of unused codes.
    """

    purpose = Choice(choices=PURPOSES)
    channel = Choice(choices=("email", "sms"))
    language = Choice(
        choices=[_EVERY_LANGUAGE, *(code for code, _ in settings.LANGUAGES)],
        help_text="A language of the pages; an empty string stands for all languages without a template",
    )
    subject = Line(
        required=False, allow_blank=True, help_text="Required for an email. It cannot contain the code"
    )
    text = Description(max_length=4096, required=True, allow_blank=False)
    html = Description(
        max_length=16_384,
        help_text="Only for an email. Without it, the email is plain text. The code may be in the text and, "
        "after the host, in the `href` of links. HTML with the code has no `link`, no `style` element, and "
        "`{name}` in no attribute without quotes",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that all required members and the placeholder of the code are present, in a PATCH too."""
        if missing := [name for name in (*KEY, "text") if name not in attrs]:
            raise serializers.ValidationError(
                dict.fromkeys(missing, gettext_noop("is required")), code="required"
            )
        template = {"subject": "", "html": ""} | attrs
        if template["channel"] == "email" and not template["subject"].strip():
            raise serializers.ValidationError(
                {"subject": gettext_noop("is required for an email")}, code="required"
            )
        if template["channel"] == "sms" and (template["subject"] or template["html"]):
            raise serializers.ValidationError(
                {"subject": gettext_noop("an SMS has neither subject nor html")}
            )
        has_code = template["purpose"] in CODES
        known = {"name"} if has_code else _OF_NOTICES
        if template["purpose"] == Notice.BACKUP_CODE_USED:
            known = known | {"left"}
        _check(template, "subject", known)
        for field in ("text", "html"):
            _check(template, field, known | {"code"} if has_code else known)
            if has_code and template[field] and "{code}" not in template[field]:
                raise serializers.ValidationError({field: gettext_noop("must contain {code}")})
        return template


class MessageTemplatesSerializer(serializers.ListSerializer[Any]):
    """The templates of a tenant, at most one for each kind of message and language."""

    def __init__(self, **options: Any) -> None:
        most = len(PURPOSES) * 2 * (len(settings.LANGUAGES) + 1)
        super().__init__(**{"child": MessageTemplateSerializer(), "max_length": most, **options})

    def validate(self, attrs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Check that no two templates are for the same message and language, and the HTML of changed ones.

        A template that is stored already, perhaps by an earlier release, does not stop changes of others.
        """
        keys = [tuple(template[name] for name in KEY) for template in attrs]
        if len(keys) != len(set(keys)):
            raise serializers.ValidationError(
                gettext_noop("two templates are for the same message in the same language"), code="repeated"
            )
        stored = getattr(self.root.instance, "message_templates", [])
        errors = [{} if template in stored else find_error_of_html(template) for template in attrs]
        if any(errors):
            raise serializers.ValidationError(errors)
        return attrs


def find(
    templates: list[dict[str, Any]], *, purpose: str, channel: str, language: str
) -> dict[str, Any] | None:
    """Return the template for a message in a language; else the one for all languages, if there is one."""
    by_language = {
        template["language"]: template
        for template in templates
        if (template["purpose"], template["channel"]) == (purpose, channel)
    }
    return by_language.get(language) or by_language.get(_EVERY_LANGUAGE)


def describe(template: dict[str, Any]) -> str:
    """Return which message a template is for, such as ``sign_in email de``."""
    return " ".join(template[name] or "any language" for name in KEY)


def find_error_of_html(template: dict[str, Any]) -> dict[str, Any]:
    """Return why the HTML of a template is refused, by field; empty if it is not."""
    try:
        html_codes.check(template.get("html", ""))
    except serializers.ValidationError as error:
        return {"html": error.detail}
    return {}


def _check(template: dict[str, Any], field: str, known: set[str]) -> None:
    # CSS has braces too. Only a single word in braces can be a placeholder.
    found = [name for name in _PLACEHOLDERS.findall(template[field]) if name.isidentifier()]
    if unknown := list(dict.fromkeys(name for name in found if name not in known)):
        text = gettext("must not contain %(unknown)s: use only %(known)s")
        texts = {"unknown": _list(unknown), "known": _list(sorted(known))}
        raise serializers.ValidationError({field: text % texts})


def _list(names: Iterable[str]) -> str:
    return join(f"{{{name}}}" for name in names)
