"""The texts with which a tenant replaces words of its pages."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.utils.translation import gettext, gettext_noop, override
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from identity.core.text_lists import join
from identity.rest.choices import Choice
from identity.rest.fields import Line

_TENANT: Final = frozenset({"tenant"})
_APPLICATION: Final = frozenset({"application"})
_BOTH: Final = _TENANT | _APPLICATION
_BRACES: Final = re.compile(r"\{([^{}]*)\}|[{}]")
_TAGS: Final = re.compile(r"<[^>]+>")
_LINK: Final = re.compile(r"(https://|mailto:)[^\s\"'<>\\]+")
_EVERY_LANGUAGE: Final = ""
_NAME: Final = "%(name)s"


@dataclass(frozen=True, slots=True)
class TextKey:
    """A text that a tenant can replace: its length, the placeholders that it may and must have.

    ``built_in`` is the text of Gatehouse, in English, in which ``%(name)s`` stands for ``named``.
    """

    label: Any  # a lazy text
    max_length: int
    allowed: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    built_in: str = ""
    named: str = ""

    def get_built_in(self, language: str) -> str:
        """Return the text of Gatehouse in a language, in the notation of tenants."""
        if not self.built_in:
            return ""
        with override(language or settings.LANGUAGE_CODE):
            return _TAGS.sub("", gettext(self.built_in)).replace(_NAME, f"{{{self.named}}}")


# A heading must name what the built-in one names: users have to see where they sign in.
KEYS: Final = {
    "sign_in_heading": TextKey(
        _("Heading of the sign-in page"), 120, _BOTH, _APPLICATION,
        gettext_noop("Sign in to <bdi>%(name)s</bdi>"), "application",
    ),
    "sign_in_introduction": TextKey(
        _("Introduction of the sign-in page"), 300, _BOTH,
        built_in=gettext_noop("with your <bdi>%(name)s</bdi> account"), named="tenant",
    ),
    "sign_in_button": TextKey(_("Button of the sign-in page"), 40, built_in=gettext_noop("Sign in")),
    "register_heading": TextKey(
        _("Heading of the registration page"), 120, _BOTH, _TENANT,
        gettext_noop("Create your <bdi>%(name)s</bdi> account"), "tenant",
    ),
    "register_introduction": TextKey(
        _("Introduction of the registration page"), 300, _BOTH,
        built_in=gettext_noop("to continue to <bdi>%(name)s</bdi>"), named="application",
    ),
    "register_button": TextKey(
        _("Button of the registration page"), 40, built_in=gettext_noop("Create account")
    ),
    "help_line": TextKey(_("Line at the foot of every page"), 200, _TENANT),
    "support_label": TextKey(
        _("Support link at the foot of every page"), 60, built_in=gettext_noop("Get help")
    ),
    "support_url": TextKey(_("Address of the support link"), 2048),
}  # fmt: skip


class PageTextSerializer(serializers.Serializer[Any]):
    """A text of the pages in one language, as plain text.

    Placeholders: ``{tenant}`` is the tenant's name, ``{application}`` that of the application to which the
    user signs in, or the tenant's without one. ``sign_in_heading`` must have ``{application}``, and
    ``register_heading`` ``{tenant}``. ``support_url`` is an https or mailto URL.
    """

    key = Choice(choices=list(KEYS))
    language = Choice(
        choices=[_EVERY_LANGUAGE, *(code for code, _ in settings.LANGUAGES)],
        help_text="A language of the pages; an empty string stands for all languages without this text",
    )
    text = Line(max_length=2048)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Check that all members are present, in a PATCH too, and the rules of the key."""
        if missing := [name for name in self.get_fields() if name not in attrs]:
            raise serializers.ValidationError(
                dict.fromkeys(missing, gettext_noop("is required")), code="required"
            )
        if problem := find_problem(attrs["key"], attrs["text"]):
            raise serializers.ValidationError({"text": problem})
        return attrs


class PageTextsSerializer(serializers.ListSerializer[Any]):
    """The texts of a tenant's pages, at most one for each key and language."""

    def __init__(self, **options: Any) -> None:
        most = len(KEYS) * (len(settings.LANGUAGES) + 1)
        super().__init__(**{"child": PageTextSerializer(), "max_length": most, **options})

    def validate(self, attrs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Check that no two texts have the same key and language."""
        keys = [(text["key"], text["language"]) for text in attrs]
        if len(keys) != len(set(keys)):
            raise serializers.ValidationError(
                gettext_noop("two texts have the same key and the same language"), code="repeated"
            )
        return attrs


def find_problem(name: str, text: str) -> str:
    """Return the rule of a key that a text breaks; an empty string if it breaks none."""
    key = KEYS[name]
    if not text.strip():
        return gettext_noop("must not be blank")
    if len(text) > key.max_length:
        return gettext("must have at most %(count)s characters as %(name)s") % {
            "count": key.max_length,
            "name": name,
        }
    if name == "support_url":
        return "" if _LINK.fullmatch(text) else gettext_noop("must be an https or mailto URL")
    found = {match[0]: match[1] for match in _BRACES.finditer(text)}
    if unknown := [whole[:64] for whole, word in found.items() if word not in key.allowed]:
        text = (
            gettext("must not contain %(unknown)s as %(name)s: use only %(known)s")
            if key.allowed
            else gettext("must not contain %(unknown)s as %(name)s: it has no placeholders")
        )
        known = join(f"{{{word}}}" for word in sorted(key.allowed))
        return text % {"unknown": join(unknown), "name": name, "known": known}
    if missing := sorted(key.required - set(found.values())):
        return gettext("must contain %(placeholder)s as %(name)s") % {
            "placeholder": f"{{{missing[0]}}}",
            "name": name,
        }
    return ""


def select(texts: Iterable[Mapping[str, str]], language: str) -> dict[str, str]:
    """Return the texts by key in a language; else those for all languages."""
    found = {text["key"]: text["text"] for text in texts if text["language"] == _EVERY_LANGUAGE}
    return found | {text["key"]: text["text"] for text in texts if text["language"] == language}
